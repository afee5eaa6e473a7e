//! Runs the fake beside a service: `fake_stripe SECRET`. It prints its address, and sends its events, signed with the
//! secret, wherever the last request to `/fake/webhook?url=…` said.

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
