<?php
// Receives webhooks and verifies that they come from Platen. Needs only PHP.

const TOLERANCE = 5 * 60; // seconds

function is_genuine(string $key, string $body): bool
{
    $header = fn (string $name): string => $_SERVER["HTTP_WEBHOOK_$name"] ?? '';
    [$id, $timestamp, $signatures] = array_map($header, ['ID', 'TIMESTAMP', 'SIGNATURE']);
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('PLATEN_WEBHOOK_SECRET')));
$body = file_get_contents('php://input');
if (!is_genuine($key, $body)) {
    http_response_code(400);
    exit;
}
http_response_code(204);
// Do slow work in a queue of your own. The same webhook-id may arrive again.
$delivery = json_decode($body, true);
error_log(implode(' ', [$_SERVER['HTTP_WEBHOOK_ID'], $delivery['status'], $delivery['error'] ?? '']));
