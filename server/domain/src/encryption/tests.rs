use super::*;

fn account() -> AccountId {
    AccountId::generate()
}

#[test]
fn what_is_sealed_opens_in_its_own_place_only() {
    let (account, row) = (account(), Uuid::now_v7());
    let key = DataKey::from_random([1; 32]);
    let place = Place::idempotent_response(account, row);
    let sealed = key.encrypt(&place, [2; 12], b"a document".to_vec()).unwrap();
    assert_eq!(sealed.len(), 10 + 28);
    assert!(!sealed.windows(8).any(|window| b"document".starts_with(window)));
    assert_eq!(key.decrypt(&place, sealed.clone()).unwrap(), b"a document");
    for elsewhere in [
        Place::idempotent_response(AccountId::generate(), row),
        Place::idempotent_response(account, Uuid::now_v7()),
        Place::connection(account, row),
        Place {
            purpose: "data key",
            ..place
        },
    ] {
        assert_eq!(
            key.decrypt(&elsewhere, sealed.clone()),
            Err(EncryptionError::NotDecrypted)
        );
    }
    let other = DataKey::from_random([3; 32]);
    assert_eq!(
        other.decrypt(&place, sealed.clone()),
        Err(EncryptionError::NotDecrypted)
    );
    for index in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[index] ^= 1;
        assert_eq!(
            key.decrypt(&place, changed),
            Err(EncryptionError::NotDecrypted),
            "{index}"
        );
    }
    for length in [0, 11, 12, 27] {
        assert_eq!(
            key.decrypt(&place, sealed[..length].to_vec()),
            Err(EncryptionError::NotDecrypted)
        );
    }
}

#[test]
fn a_data_key_is_stored_wrapped_for_one_account() {
    let account = account();
    let secret = SecretKey::from_random([4; 32]);
    let key = DataKey::from_random([5; 32]);
    let wrapped = key.wrap(&secret, account, [6; 12]).unwrap();
    assert_eq!(wrapped.secret_key_id, secret.id().as_str());
    let keys = |current: u8, former: Option<u8>| SecretKeys {
        current: Arc::new(SecretKey::from_random([current; 32])),
        former: former.map(|random| Arc::new(SecretKey::from_random([random; 32]))),
    };
    for sound in [keys(4, None), keys(4, Some(7)), keys(7, Some(4))] {
        let unwrapped = DataKey::unwrap(wrapped.clone(), &sound, account).unwrap();
        assert_eq!(unwrapped.0.expose_secret(), key.0.expose_secret());
    }
    assert!(DataKey::unwrap(wrapped.clone(), &keys(4, None), AccountId::generate()).is_err());
    assert!(DataKey::unwrap(wrapped, &keys(7, Some(8)), account).is_err());
}

#[test]
fn what_is_a_persons_is_wrapped_for_them_alone() {
    let (ann, bob) = (UserId::generate(), UserId::generate());
    let keys = |current: u8, former: Option<u8>| SecretKeys {
        current: Arc::new(SecretKey::from_random([current; 32])),
        former: former.map(|random| Arc::new(SecretKey::from_random([random; 32]))),
    };
    let wrapped = keys(1, None)
        .current
        .wrap(&Place::app_secret(ann), [2; 12], b"secret".to_vec());
    let wrapped = wrapped.unwrap();
    let open = |keys: &SecretKeys, place: &Place| keys.unwrap(place, wrapped.clone());
    for sound in [keys(1, None), keys(3, Some(1))] {
        let opened = open(&sound, &Place::app_secret(ann)).unwrap();
        assert_eq!(opened.expose_secret(), b"secret");
    }
    for elsewhere in [Place::app_secret(bob), Place::recovery_codes(ann)] {
        assert!(open(&keys(1, None), &elsewhere).is_err());
    }
    assert!(open(&keys(3, None), &Place::app_secret(ann)).is_err());
}

#[test]
fn a_secret_key_is_read_as_base64_and_as_hexadecimal() {
    let key = SecretKey::from_random([0xa7; 32]);
    let text = key.to_text();
    for text in [text.expose_secret(), &"a7".repeat(32), &"A7".repeat(32)] {
        assert_eq!(SecretKey::parse(text).expect("a key").id(), key.id(), "{text}");
    }
    for text in [
        "",
        "secret",
        &"a7".repeat(31),
        &"+7".repeat(32),
        &text.expose_secret()[1..],
    ] {
        assert!(SecretKey::parse(text).is_none(), "{text}");
    }
}

#[test]
fn no_key_prints() {
    let text = format!(
        "{:?} {:?}",
        SecretKey::from_random([9; 32]),
        DataKey::from_random([9; 32])
    );
    assert!(!text.contains("9, 9"), "{text}");
}

#[test]
fn tokens_are_recognized_by_their_key_and_its_successor() {
    let keys = |current: u8, former: Option<u8>| SecretKeys {
        current: Arc::new(SecretKey::from_random([current; 32])),
        former: former.map(|former| Arc::new(SecretKey::from_random([former; 32]))),
    };
    let token = keys(1, None).sign_token([7; 16]);
    assert_ne!(token.expose(), keys(1, None).sign_token([8; 16]).expose());
    assert!(keys(1, None).have_signed(token.expose()));
    assert!(keys(2, Some(1)).have_signed(token.expose()));
    assert!(!keys(2, Some(3)).have_signed(token.expose()));
    let random = OneTimeToken::from_random([7; 32]);
    for other in [
        random.expose(),
        &token.expose()[..42],
        &format!("{}A", token.expose()),
        "",
        "é",
    ] {
        assert!(!keys(1, None).have_signed(other), "{other}");
    }
}
