//! Orders, and those the desk starts with.

use serde::Serialize;

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Paid, not yet sent.
    Paid,
    /// On its way or delivered.
    Shipped,
    /// Called off; its money can be refunded.
    Cancelled,
}

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The article number.
    pub sku: String,
    /// The article's name.
    pub name: String,
    /// How many were ordered.
    pub quantity: u32,
    /// The price of one, in cents.
    pub price_cents: u64,
}

/// A remark on an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The note's id, such as `N-1`.
    pub note_id: String,
    /// What was noted.
    pub text: String,
}

/// A customer's order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    /// The order's id, such as `A-1001`.
    pub order_id: String,
    /// The customer's full name.
    pub customer: String,
    /// Where the order is sent.
    pub address: String,
    /// Where the order stands.
    pub status: Status,
    /// What was ordered.
    pub items: Vec<Item>,
    /// The price of all items, in cents.
    pub total_cents: u64,
    /// What has been paid back so far, in cents.
    pub refunded_cents: u64,
    /// Why the order was cancelled, when a reason was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// Remarks, oldest first.
    pub notes: Vec<Note>,
}

/// The orders of a fresh desk, by ascending id.
#[must_use]
pub fn seeded() -> Vec<Order> {
    use Status::{Cancelled, Paid, Shipped};
    vec![
        order(
            "A-1001",
            ("Ada Novak", "12 Mill Lane, Bristol"),
            Paid,
            &[
                ("KB-20", "Mechanical keyboard", 1, 8900),
                ("CB-03", "USB-C cable", 2, 950),
            ],
        ),
        order(
            "A-1002",
            ("Ben Okafor", "4 Harbour Street, Cork"),
            Shipped,
            &[("MN-27", "27 inch monitor", 1, 24_900)],
        ),
        order(
            "A-1003",
            ("Carla Lindqvist", "Storgatan 8, Umeå"),
            Cancelled,
            &[
                ("HP-11", "Headphones", 1, 12_900),
                ("ST-02", "Headphone stand", 1, 2100),
            ],
        ),
        order(
            "A-1004",
            ("Ada Novak", "12 Mill Lane, Bristol"),
            Shipped,
            &[("MS-07", "Wireless mouse", 1, 3900)],
        ),
        order(
            "A-1005",
            ("Dmitri Sokolov", "77 Quay Road, Leith"),
            Paid,
            &[("LP-15", "Laptop stand", 3, 4500)],
        ),
    ]
}

fn order(
    order_id: &str,
    (customer, address): (&str, &str),
    status: Status,
    lines: &[(&str, &str, u32, u64)],
) -> Order {
    let items: Vec<Item> = lines
        .iter()
        .map(|&(sku, name, quantity, price_cents)| Item {
            sku: sku.to_owned(),
            name: name.to_owned(),
            quantity,
            price_cents,
        })
        .collect();
    Order {
        order_id: order_id.to_owned(),
        customer: customer.to_owned(),
        address: address.to_owned(),
        status,
        total_cents: items
            .iter()
            .map(|item| u64::from(item.quantity) * item.price_cents)
            .sum(),
        items,
        refunded_cents: 0,
        cancel_reason: None,
        notes: Vec::new(),
    }
}
