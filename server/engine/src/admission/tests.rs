use tokio::task::JoinSet;

use super::*;

const A: Uuid = Uuid::from_u128(1);
const B: Uuid = Uuid::from_u128(2);
const C: Uuid = Uuid::from_u128(3);

fn caller(account: Uuid) -> Caller {
    Caller {
        account,
        concurrency: 10,
    }
}

/// Waiting renders, started one after the other so that their order is known. Each records its name when it is served.
struct Waiters {
    admission: Admission,
    served: Arc<Mutex<Vec<&'static str>>>,
    tasks: JoinSet<Result<(), RenderError>>,
}

impl Waiters {
    fn new(admission: &Admission) -> Self {
        Self {
            admission: admission.clone(),
            served: Arc::default(),
            tasks: JoinSet::new(),
        }
    }

    async fn add(&mut self, name: &'static str, account: Uuid, lane: Lane) -> tokio::task::AbortHandle {
        let waiting = self.admission.load().waiting;
        let admission = self.admission.clone();
        let served = Arc::clone(&self.served);
        let handle = self.tasks.spawn(async move {
            let slot = admission.enter(caller(account), lane).await?;
            served.lock().unwrap().push(name);
            drop(slot);
            Ok(())
        });
        while self.admission.load().waiting == waiting {
            tokio::task::yield_now().await;
        }
        handle
    }

    async fn served(mut self) -> Vec<&'static str> {
        while self.tasks.join_next().await.is_some() {}
        std::mem::take(&mut *self.served.lock().unwrap())
    }
}

#[tokio::test]
async fn accounts_take_turns() {
    let admission = Admission::new(1, 0, 100);
    let running = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    for name in ["a1", "a2", "a3", "a4"] {
        waiters.add(name, A, Lane::Synchronous).await;
    }
    waiters.add("b1", B, Lane::Synchronous).await;
    drop(running);
    assert_eq!(waiters.served().await, ["a1", "b1", "a2", "a3", "a4"]);
    let load = admission.load();
    assert_eq!((load.running, load.waiting), (0, 0));
}

#[tokio::test]
async fn a_spare_slot_is_for_accounts_without_one_whose_callers_wait() {
    let admission = Admission::new(2, 1, 100);
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push(admission.enter(caller(A), Lane::Synchronous).await.unwrap());
    }
    // Neither the account that holds all other slots, nor a background render, gets it.
    let mut again = Box::pin(admission.enter(caller(A), Lane::Synchronous));
    assert!(futures::poll!(&mut again).is_pending());
    let mut background = Box::pin(admission.enter(caller(B), Lane::Background));
    assert!(futures::poll!(&mut background).is_pending());
    let spare = admission.enter(caller(B), Lane::Synchronous).await.unwrap();
    assert_eq!((admission.load().running, admission.load().waiting), (3, 2));
    // B has a slot now, so C is next.
    let mut second = Box::pin(admission.enter(caller(B), Lane::Synchronous));
    assert!(futures::poll!(&mut second).is_pending());
    let mut third = Box::pin(admission.enter(caller(C), Lane::Synchronous));
    assert!(futures::poll!(&mut third).is_pending());
    drop(running.pop());
    assert!(futures::poll!(&mut again).is_pending());
    assert!(futures::poll!(&mut second).is_pending());
    let third = third.await.unwrap();
    // Accounts that waited longer come first once a regular slot is free.
    drop(third);
    assert!(futures::poll!(&mut again).is_pending());
    drop(spare);
    let again = again.await.unwrap();
    let second = second.await.unwrap();
    drop((again, running));
    let background = background.await.unwrap();
    drop((background, second));
    assert_eq!((admission.load().running, admission.load().waiting), (0, 0));
}

#[tokio::test]
async fn lanes_come_in_order() {
    let admission = Admission::new(1, 0, 100);
    let running = admission.enter(caller(A), Lane::Background).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    waiters.add("background", A, Lane::Background).await;
    waiters.add("synchronous", A, Lane::Synchronous).await;
    waiters.add("preview", B, Lane::Preview).await;
    drop(running);
    assert_eq!(waiters.served().await, ["preview", "synchronous", "background"]);
}

#[tokio::test(start_paused = true)]
async fn background_renders_leave_a_core_to_callers_who_wait() {
    let admission = Admission::new(4, 1, 100);
    let attended = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let first = admission.enter(caller(B), Lane::Background).await.unwrap();
    let _second = admission.enter(caller(B), Lane::Background).await.unwrap();
    let mut third = Box::pin(admission.enter(caller(B), Lane::Background));
    assert!(futures::poll!(&mut third).is_pending());
    // The caller's next render is likely to follow at once.
    drop(attended);
    assert!(futures::poll!(&mut third).is_pending());
    drop(admission.enter(caller(A), Lane::Synchronous).await.unwrap());
    drop(first);
    let _third = third.await.unwrap();
    // None follows: background renders get all slots, although none is released.
    let mut fourth = Box::pin(admission.enter(caller(B), Lane::Background));
    assert!(futures::poll!(&mut fourth).is_pending());
    let _fourth = fourth.await.unwrap();
    let _fifth = admission.enter(caller(B), Lane::Background).await.unwrap();
    let load = admission.load();
    assert_eq!((load.running, load.waiting), (4, 0));
}

#[tokio::test]
async fn background_renders_that_wait_refuse_no_caller() {
    let admission = Admission::new(1, 0, 1);
    let running = admission.enter(caller(A), Lane::Background).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    for name in ["b1", "b2"] {
        waiters.add(name, B, Lane::Background).await;
    }
    waiters.add("synchronous", C, Lane::Synchronous).await;
    let refused = admission.enter(caller(C), Lane::Synchronous).await;
    assert!(matches!(refused, Err(RenderError::QueueFull)));
    drop(running);
    assert_eq!(waiters.served().await, ["synchronous", "b1", "b2"]);
}

#[tokio::test]
async fn a_background_render_goes_on_beside_callers_who_wait() {
    let admission = Admission::new(2, 1, 100);
    let _attended = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let background = admission.enter(caller(B), Lane::Background).await.unwrap();
    drop(background);
    let _background = admission.enter(caller(B), Lane::Background).await.unwrap();
    assert_eq!(admission.load().running, 2);
}

#[tokio::test]
async fn a_further_slot_takes_its_accounts_turn() {
    let admission = Admission::new(1, 0, 1);
    let limited = Caller {
        account: A,
        concurrency: 1,
    };
    let running = admission.enter(limited, Lane::Synchronous).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    waiters.add("b", B, Lane::Synchronous).await;
    // Neither the account's limit nor the full queue stops a render that has entered.
    let mut further = Box::pin(admission.enter_again(A, Lane::Synchronous));
    assert!(futures::poll!(&mut further).is_pending());
    drop(running);
    assert_eq!(waiters.served().await, ["b"]);
    let further = further.await.unwrap();
    assert_eq!(admission.load().running, 1);
    drop(further);
    assert_eq!((admission.load().running, admission.load().waiting), (0, 0));
}

#[tokio::test]
async fn who_gives_up_frees_his_place_and_keeps_his_accounts_turn() {
    let admission = Admission::new(1, 0, 2);
    let running = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    // More often than the queue has places.
    for _ in 0..5 {
        let mut waiters = Waiters::new(&admission);
        waiters.add("gave up", A, Lane::Synchronous).await.abort();
        assert!(waiters.served().await.is_empty());
        assert_eq!(admission.load().waiting, 0);
    }
    let mut waiters = Waiters::new(&admission);
    let gives_up = waiters.add("gave up", A, Lane::Synchronous).await;
    waiters.add("a", A, Lane::Synchronous).await;
    gives_up.abort();
    while admission.load().waiting > 1 {
        tokio::task::yield_now().await;
    }
    waiters.add("b", B, Lane::Synchronous).await;
    drop(running);
    assert_eq!(waiters.served().await, ["a", "b"]);
    assert_eq!(admission.lock().slots.taken, 0);
}

#[tokio::test]
async fn who_gives_up_in_the_moment_of_his_turn_hands_it_on() {
    let admission = Admission::new(1, 0, 10);
    let running = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let mut gives_up = Box::pin(admission.enter(caller(A), Lane::Synchronous));
    assert!(futures::poll!(&mut gives_up).is_pending());
    drop(running);
    drop(gives_up);
    assert_eq!(admission.lock().slots.taken, 0);
    assert_eq!(admission.load().running, 0);
}

#[tokio::test]
async fn an_account_has_so_many_renders_and_the_queue_so_many_places() {
    let admission = Admission::new(1, 0, 1);
    let limited = Caller {
        account: A,
        concurrency: 1,
    };
    let running = admission.enter(limited, Lane::Synchronous).await.unwrap();
    let refused = admission.enter(limited, Lane::Preview).await.err();
    assert_eq!(refused, Some(RenderError::TooManyConcurrent { limit: 1 }));
    let mut waiters = Waiters::new(&admission);
    waiters.add("b", B, Lane::Synchronous).await;
    let refused = admission.enter(caller(B), Lane::Preview).await.err();
    assert_eq!(refused, Some(RenderError::QueueFull));
    drop(running);
    assert_eq!(waiters.served().await, ["b"]);
    assert!(admission.enter(limited, Lane::Preview).await.is_ok());
}

#[tokio::test]
async fn closing_refuses_those_who_wait_and_those_who_come() {
    let admission = Admission::new(1, 0, 10);
    let running = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    waiters.add("b", B, Lane::Synchronous).await;
    admission.close();
    let refused = waiters.tasks.join_next().await.unwrap().unwrap();
    assert_eq!(refused, Err(RenderError::ShuttingDown));
    assert_eq!(admission.load().running, 1);
    drop(running);
    assert_eq!(admission.load().running, 0);
    let refused = admission.enter(caller(A), Lane::Synchronous).await.err();
    assert_eq!(refused, Some(RenderError::ShuttingDown));
}

#[tokio::test]
async fn a_snapshot_tells_who_waits_in_which_lane() {
    let admission = Admission::new(1, 0, 7);
    let running = admission.enter(caller(A), Lane::Synchronous).await.unwrap();
    let mut waiters = Waiters::new(&admission);
    let first = waiters.add("a1", A, Lane::Synchronous).await;
    waiters.add("a2", A, Lane::Synchronous).await;
    waiters.add("b1", B, Lane::Synchronous).await;
    waiters.add("b2", B, Lane::Background).await;
    let told = || {
        let (limit, lanes) = admission.snapshot();
        assert_eq!(limit, 7);
        lanes.map(|lane| (lane.waiting, lane.accounts, lane.oldest.is_some()))
    };
    assert_eq!(told(), [(0, 0, false), (3, 2, true), (1, 1, true)]);
    first.abort();
    while admission.load().waiting == 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(told(), [(0, 0, false), (2, 2, true), (1, 1, true)]);
    drop(running);
    waiters.served().await;
    assert_eq!(told(), [(0, 0, false); 3]);
}
