//! Runs the fake Stripe for a service: `fake_stripe SECRET`. Prints its address, and sends its events, signed with the
//! secret, to the URL of the last request to `/fake/webhook?url=…`.

use platen_fake_stripe::FakeStripe;

#[tokio::main]
async fn main() {
    let secret = std::env::args()
        .nth(1)
        .expect("the secret for events is the only argument");
    let fake = FakeStripe::start(&secret).await;
    println!("{}", fake.url());
    fake.ended().await;
}
