//! The desk's state and its rules, without any protocol around them.

use std::fmt;

use serde::Serialize;

use crate::orders::{Note, Order, Status, seeded};

/// Why the desk turned a wish down. The text is meant for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskError(String);

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeskError {}

/// Money paid back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refund {
    /// The refund's id, such as `RF-1`.
    pub refund_id: String,
    /// The order it belongs to.
    pub order_id: String,
    /// What was paid back now, in cents.
    pub amount_cents: u64,
    /// What has been paid back on this order in all, in cents.
    pub refunded_cents: u64,
}

/// The receipt for a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteTaken {
    /// The note's id, such as `N-1`.
    pub note_id: String,
    /// The order it belongs to.
    pub order_id: String,
}

/// A desk with its orders.
#[derive(Clone, Debug)]
pub struct Desk {
    orders: Vec<Order>,
    refunds: u32,
    notes: u32,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            orders: seeded(),
            refunds: 0,
            notes: 0,
        }
    }
}

impl Desk {
    /// The order with this id.
    pub fn find(&self, order_id: &str) -> Result<&Order, DeskError> {
        self.orders
            .iter()
            .find(|order| order.order_id == order_id)
            .ok_or_else(|| no_order(order_id))
    }

    /// The orders of all customers whose name contains `customer`, by id.
    #[must_use]
    pub fn search(&self, customer: &str) -> Vec<&Order> {
        let wanted = customer.trim().to_lowercase();
        self.orders
            .iter()
            .filter(|order| order.customer.to_lowercase().contains(&wanted))
            .collect()
    }

    /// Cancels an order that is neither shipped nor cancelled.
    pub fn cancel(&mut self, order_id: &str, reason: Option<String>) -> Result<&Order, DeskError> {
        let order = self.order_mut(order_id)?;
        match order.status {
            Status::Shipped => Err(refused(order_id, "is already shipped")),
            Status::Cancelled => Err(refused(order_id, "is already cancelled")),
            Status::Paid => {
                order.status = Status::Cancelled;
                order.cancel_reason = reason;
                Ok(order)
            }
        }
    }

    /// Pays back up to the total of a cancelled order, in one or more parts.
    pub fn refund(&mut self, order_id: &str, amount_cents: u64) -> Result<Refund, DeskError> {
        let order = self.order_mut(order_id)?;
        if order.status != Status::Cancelled {
            return Err(refused(order_id, "is not cancelled"));
        }
        if amount_cents == 0 {
            return Err(DeskError("amount_cents must be at least 1".to_owned()));
        }
        let left = order.total_cents - order.refunded_cents;
        if amount_cents > left {
            return Err(DeskError(format!(
                "{amount_cents} cents are more than the {left} cents left to refund on order {order_id}"
            )));
        }
        order.refunded_cents += amount_cents;
        let refunded_cents = order.refunded_cents;
        self.refunds += 1;
        Ok(Refund {
            refund_id: format!("RF-{}", self.refunds),
            order_id: order_id.to_owned(),
            amount_cents,
            refunded_cents,
        })
    }

    /// Changes where an order is sent.
    pub fn update_address(&mut self, order_id: &str, address: &str) -> Result<&Order, DeskError> {
        let order = self.order_mut(order_id)?;
        let address = not_blank("address", address)?;
        address.clone_into(&mut order.address);
        Ok(order)
    }

    /// Adds a remark to an order.
    pub fn add_note(&mut self, order_id: &str, text: &str) -> Result<NoteTaken, DeskError> {
        let note_id = format!("N-{}", self.notes + 1);
        let order = self.order_mut(order_id)?;
        order.notes.push(Note {
            note_id: note_id.clone(),
            text: not_blank("text", text)?.to_owned(),
        });
        self.notes += 1;
        Ok(NoteTaken {
            note_id,
            order_id: order_id.to_owned(),
        })
    }

    fn order_mut(&mut self, order_id: &str) -> Result<&mut Order, DeskError> {
        self.orders
            .iter_mut()
            .find(|order| order.order_id == order_id)
            .ok_or_else(|| no_order(order_id))
    }
}

fn no_order(order_id: &str) -> DeskError {
    DeskError(format!("no order {order_id}"))
}

fn refused(order_id: &str, why: &str) -> DeskError {
    DeskError(format!("order {order_id} {why}"))
}

fn not_blank<'a>(argument: &str, given: &'a str) -> Result<&'a str, DeskError> {
    let given = given.trim();
    if given.is_empty() {
        return Err(DeskError(format!("{argument} must not be empty")));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T>(result: Result<T, DeskError>) -> String {
        result.err().expect("an error").to_string()
    }

    #[test]
    fn the_seeded_orders_are_as_documented() {
        let desk = Desk::default();
        let first = desk.find("A-1001").unwrap();
        assert_eq!(
            (first.status, first.items.len(), first.total_cents),
            (Status::Paid, 2, 10_800)
        );
        assert_eq!(desk.find("A-1002").unwrap().status, Status::Shipped);
        assert_eq!(desk.find("A-1003").unwrap().status, Status::Cancelled);
        assert_eq!(desk.search("ada novak").len(), 2);
        assert!(desk.search("nobody").is_empty());
    }

    #[test]
    fn only_a_paid_order_is_cancelled() {
        let mut desk = Desk::default();
        let order = desk.cancel("A-1001", Some("too slow".into())).unwrap();
        assert_eq!(order.status, Status::Cancelled);
        assert_eq!(order.cancel_reason.as_deref(), Some("too slow"));
        assert_eq!(
            text(desk.cancel("A-1001", None)),
            "order A-1001 is already cancelled"
        );
        assert_eq!(
            text(desk.cancel("A-1002", None)),
            "order A-1002 is already shipped"
        );
        assert_eq!(text(desk.cancel("Z-1", None)), "no order Z-1");
    }

    #[test]
    fn refunds_are_counted_and_never_exceed_the_total() {
        let mut desk = Desk::default();
        assert_eq!(
            text(desk.refund("A-1001", 1)),
            "order A-1001 is not cancelled"
        );
        assert_eq!(
            text(desk.refund("A-1003", 0)),
            "amount_cents must be at least 1"
        );
        assert_eq!(desk.refund("A-1003", 14_000).unwrap().refund_id, "RF-1");
        assert_eq!(
            text(desk.refund("A-1003", 1001)),
            "1001 cents are more than the 1000 cents left to refund on order A-1003"
        );
        let last = desk.refund("A-1003", 1000).unwrap();
        assert_eq!(
            (last.refund_id.as_str(), last.refunded_cents),
            ("RF-2", 15_000)
        );
    }

    #[test]
    fn notes_and_addresses_are_kept_and_blank_ones_refused() {
        let mut desk = Desk::default();
        assert_eq!(text(desk.add_note("A-1001", " ")), "text must not be empty");
        assert_eq!(desk.add_note("A-1001", "call").unwrap().note_id, "N-1");
        assert_eq!(desk.add_note("A-1005", "gift").unwrap().note_id, "N-2");
        assert_eq!(
            text(desk.update_address("A-1001", "")),
            "address must not be empty"
        );
        desk.update_address("A-1001", "1 New Road, Bath").unwrap();
        let order = desk.find("A-1001").unwrap();
        assert_eq!(order.address, "1 New Road, Bath");
        assert_eq!(order.notes[0].text, "call");
    }
}
