//! The state of the fake, and its transitions.

use serde_json::{Value, json};
use time::{Date, Month, OffsetDateTime};

/// Names and values of request parameters.
pub(crate) type Form = Vec<(String, String)>;

pub(crate) fn value<'a>(form: &'a Form, name: &str) -> Option<&'a str> {
    form.iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

pub(crate) fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// Returns the same time in the next month, on its last day if it is shorter.
fn a_month_after(seconds: i64) -> i64 {
    let from = OffsetDateTime::from_unix_timestamp(seconds).expect("a time");
    let next = from.month().next();
    let year = from.year() + i32::from(next == Month::January);
    let date = Date::from_calendar_date(year, next, from.day().min(next.length(year))).expect("a date");
    from.replace_date(date).unix_timestamp()
}

/// The handling of meter events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterEvents {
    /// Events are counted.
    Count,
    /// Events are refused.
    Refuse,
    /// Requests fail, and events are not counted.
    Lose,
    /// Events are counted, but requests fail.
    CountAndLoseTheAnswer,
}

pub(crate) struct State {
    pub(crate) url: String,
    pub(crate) webhook: Option<String>,
    pub(crate) products: Vec<Value>,
    pub(crate) prices: Vec<Value>,
    pub(crate) customers: Vec<Value>,
    pub(crate) sessions: Vec<Value>,
    /// One-time payments, by the id of their checkout session.
    pub(crate) intents: Vec<(String, Value)>,
    pub(crate) subscriptions: Vec<Value>,
    pub(crate) invoices: Vec<Value>,
    pub(crate) meters: Vec<Value>,
    pub(crate) meter_events: Vec<Value>,
    pub(crate) at_meter_events: MeterEvents,
    pub(crate) unsent: Vec<Value>,
    pub(crate) decline_next: bool,
    /// Idempotency keys and their responses.
    pub(crate) answered: Vec<(String, Value)>,
    numbers: u64,
}

pub(crate) fn find<'a>(list: &'a mut [Value], id: &str) -> Option<&'a mut Value> {
    list.iter_mut().find(|one| one["id"] == id)
}

impl State {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            webhook: None,
            products: Vec::new(),
            prices: Vec::new(),
            customers: Vec::new(),
            sessions: Vec::new(),
            intents: Vec::new(),
            subscriptions: Vec::new(),
            invoices: Vec::new(),
            meters: Vec::new(),
            meter_events: Vec::new(),
            at_meter_events: MeterEvents::Count,
            unsent: Vec::new(),
            decline_next: false,
            answered: Vec::new(),
            numbers: 0,
        }
    }

    pub(crate) fn id(&mut self, prefix: &str) -> String {
        self.numbers += 1;
        format!("{prefix}_{:06}", self.numbers)
    }

    pub(crate) fn happened(&mut self, kind: &str, object: &Value) {
        let id = self.id("evt");
        let event = json!({
            "id": id, "object": "event", "api_version": "2026-09-30.endive", "created": now(), "livemode": false,
            "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null}, "type": kind,
            "data": {"object": object},
        });
        self.unsent.push(event);
    }

    pub(crate) fn price(&self, id: &str) -> Value {
        self.prices
            .iter()
            .find(|price| price["id"] == id)
            .expect("a price")
            .clone()
    }

    /// Pays on the page of a checkout session.
    pub(crate) fn pay(&mut self, session: &str) {
        let session = find(&mut self.sessions, session).expect("a session");
        if session["status"] == "complete" {
            return;
        }
        session["status"] = json!("complete");
        session["payment_status"] = json!("paid");
        let session = session.clone();
        let customer = session["customer"].as_str().unwrap().to_owned();
        let price = self.price(session["price"].as_str().unwrap());
        let amount = price["unit_amount"].as_i64().unwrap();
        if session["mode"] == "subscription" {
            self.subscribe(&customer, &price);
        } else {
            self.collect(session["id"].as_str().unwrap(), &customer, amount);
        }
        self.happened("checkout.session.completed", &session);
    }

    /// Collects a one-time payment.
    fn collect(&mut self, session: &str, customer: &str, amount: i64) {
        let invoice = self.invoice(customer, None, amount, now(), "paid");
        self.happened("invoice.paid", &invoice);
        let charge = json!({
            "id": self.id("ch"), "object": "charge", "customer": customer, "amount": amount, "amount_refunded": 0,
            "refunded": false,
        });
        let intent =
            json!({"id": self.id("pi"), "object": "payment_intent", "customer": customer, "latest_charge": charge});
        // Expanded, as in API responses; events contain only the id.
        self.intents.push((session.to_owned(), intent));
    }

    /// Refunds `percent` of the unrefunded part of a customer's first one-time payment that is not fully refunded. Does
    /// nothing if there is none.
    pub(crate) fn refund(&mut self, customer: &str, percent: i64) {
        let charges = self.intents.iter_mut().map(|(_, intent)| &mut intent["latest_charge"]);
        let mut open = charges.filter(|charge| charge["customer"] == customer && charge["refunded"] == false);
        let Some(charge) = open.next() else { return };
        let [amount, before] = ["amount", "amount_refunded"].map(|name| charge[name].as_i64().unwrap());
        let refunded = before + (amount - before) * percent / 100;
        charge["amount_refunded"] = json!(refunded);
        charge["refunded"] = json!(refunded == amount);
        let charge = charge.clone();
        self.happened("charge.refunded", &charge);
    }

    fn subscribe(&mut self, customer: &str, price: &Value) {
        let (id, item, from) = (self.id("sub"), self.id("si"), now());
        let subscription = json!({
            "id": id, "object": "subscription", "customer": customer, "status": "active", "created": from,
            "billing_cycle_anchor": from, "cancel_at": null, "cancel_at_period_end": false, "canceled_at": null,
            "metadata": {},
            "items": {"object": "list", "has_more": false, "data": [{
                "id": item, "object": "subscription_item", "price": price, "quantity": 1,
                "current_period_start": from, "current_period_end": a_month_after(from),
            }]},
            "default_payment_method": {"id": "pm_1", "object": "payment_method", "type": "card", "card":
                {"brand": "visa", "last4": "4242", "exp_month": 8, "exp_year": 2030}},
        });
        self.subscriptions.push(subscription.clone());
        self.happened("customer.subscription.created", &subscription);
        let amount = price["unit_amount"].as_i64().unwrap();
        let invoice = self.invoice(customer, Some(&id), amount, from, "paid");
        self.happened("invoice.paid", &invoice);
    }

    pub(crate) fn subscribe_to_product(&mut self, customer: &str, product: &str) {
        let price = self.prices.iter().find(|price| price["product"] == product);
        let price = price.expect("a price").clone();
        self.subscribe(customer, &price);
    }

    fn invoice(&mut self, customer: &str, subscription: Option<&str>, total: i64, at: i64, status: &str) -> Value {
        let id = self.id("in");
        let number = format!("PL-2026-{:04}", self.invoices.len() + 1);
        let invoice = json!({
            "id": id, "object": "invoice", "number": number, "customer": customer, "subscription": subscription,
            "created": at, "status": status, "total": total, "currency": "eur",
            "hosted_invoice_url": format!("{}invoice/{id}", self.url),
            "invoice_pdf": format!("{}invoice/{id}/pdf", self.url),
        });
        self.invoices.push(invoice.clone());
        invoice
    }

    fn change(&mut self, subscription: &str, change: impl FnOnce(&mut Value)) -> Value {
        let subscription = find(&mut self.subscriptions, subscription).expect("a subscription");
        change(subscription);
        subscription.clone()
    }

    pub(crate) fn fail_payment(&mut self, subscription: &str, seconds_ago: i64) {
        let changed = self.change(subscription, |one| one["status"] = json!("past_due"));
        let customer = changed["customer"].as_str().unwrap().to_owned();
        let amount = changed["items"]["data"][0]["price"]["unit_amount"].as_i64().unwrap();
        let invoice = self.invoice(&customer, Some(subscription), amount, now() - seconds_ago, "open");
        self.happened("invoice.payment_failed", &invoice);
        self.happened("customer.subscription.updated", &changed);
    }

    pub(crate) fn settle(&mut self, subscription: &str) {
        for invoice in &mut self.invoices {
            if invoice["subscription"] == subscription && invoice["status"] == "open" {
                invoice["status"] = json!("paid");
            }
        }
        let changed = self.change(subscription, |one| one["status"] = json!("active"));
        self.happened("customer.subscription.updated", &changed);
    }

    pub(crate) fn let_kept_pass(&mut self, subscription: &str) {
        let passed = (now() - 1).to_string();
        let changed = self.change(subscription, |one| one["metadata"]["platen_kept_until"] = json!(passed));
        self.happened("customer.subscription.updated", &changed);
    }

    pub(crate) fn end(&mut self, subscription: &str) {
        let changed = self.change(subscription, |one| {
            one["status"] = json!("canceled");
            one["canceled_at"] = json!(now());
        });
        self.happened("customer.subscription.deleted", &changed);
    }

    /// Returns `None` if the payment was declined.
    pub(crate) fn update_subscription(&mut self, id: &str, form: &Form) -> Option<Value> {
        let invoices = value(form, "proration_behavior") == Some("always_invoice");
        if invoices && std::mem::take(&mut self.decline_next) {
            return None;
        }
        let price = value(form, "items[0][price]").map(|price| self.price(price));
        let today = price.as_ref().filter(|_| invoices);
        let today = today.map_or(0, |price| self.difference(id, price));
        let changed = self.change(id, |one| {
            match price {
                Some(price) if value(form, "items[0][id]").is_some() => one["items"]["data"][0]["price"] = price,
                Some(price) => {
                    let mut item = one["items"]["data"][0].clone();
                    item["id"] = json!(format!("si_{}", price["id"].as_str().unwrap()));
                    item["price"] = price;
                    // Stripe doesn't guarantee an order of items.
                    one["items"]["data"].as_array_mut().unwrap().push(item);
                }
                None => {}
            }
            if let Some(cancel) = value(form, "cancel_at_period_end") {
                one["cancel_at_period_end"] = json!(cancel == "true");
                let end = one["items"]["data"][0]["current_period_end"].clone();
                one["cancel_at"] = if cancel == "true" { end } else { Value::Null };
            }
            for (name, value) in form {
                let key = name.strip_prefix("metadata[").and_then(|rest| rest.strip_suffix(']'));
                let Some(key) = key else { continue };
                let metadata = one["metadata"].as_object_mut().unwrap();
                if value.is_empty() {
                    metadata.remove(key);
                } else {
                    metadata.insert(key.to_owned(), json!(value));
                }
            }
        });
        self.happened("customer.subscription.updated", &changed);
        if invoices {
            let customer = changed["customer"].as_str().unwrap().to_owned();
            let invoice = self.invoice(&customer, Some(id), today, now(), "paid");
            self.happened("invoice.paid", &invoice);
        }
        Some(changed)
    }

    /// Returns the cost of changing to another price for the rest of the period.
    pub(crate) fn difference(&self, subscription: &str, price: &Value) -> i64 {
        let found = self.subscriptions.iter().find(|one| one["id"] == subscription);
        let item = &found.expect("a subscription")["items"]["data"][0];
        let [from, until] = ["current_period_start", "current_period_end"].map(|name| item[name].as_i64().unwrap());
        let amount = |price: &Value| price["unit_amount"].as_i64().unwrap();
        (amount(price) - amount(&item["price"])) * (until - now()) / (until - from)
    }
}
