//! The desk: what agents are told, and two tools, of which one fails.

use std::fmt;

/// What the agents are told before the user asks.
pub const SYSTEM: &str = "You work at the desk.";

/// What the desk says when it cannot do what it is asked.
#[derive(Debug)]
pub struct DeskError(String);

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeskError {}

/// Where an order is.
///
/// # Errors
///
/// There is no such order.
pub fn get_order(order: u64) -> Result<String, DeskError> {
    if order == 0 {
        return Err(DeskError("orders count from 1".to_owned()));
    }
    Ok("delivered".to_owned())
}

/// Gives the money of an order back: never, since all orders are old.
///
/// # Errors
///
/// The order is old, or there is no such order.
pub fn refund(order: u64) -> Result<String, DeskError> {
    get_order(order)?;
    Err(DeskError(format!("order {order} was delivered a year ago")))
}
