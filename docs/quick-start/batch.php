<?php
// Renders a document for each row of invoices.csv. Needs nothing but PHP.

/** Sends a request and gives the answer's bytes; on an error says what is wrong and ends. */
function call(string $method, string $path, string $body = '', string ...$headers): string
{
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ['Authorization: Bearer ' . getenv('PLATEN_KEY'), ...$headers],
        'content' => $body,
        'timeout' => 90,
        'ignore_errors' => true,
    ]]);
    $answer = file_get_contents(getenv('PLATEN_URL') . $path, false, $context);
    if ($answer === false) {
        exit(1);
    }
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status < 300) {
        return $answer;
    }
    $answer = json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
    $lines = match ($status) {
        401, 403 => ["{$answer['error']}: {$answer['message']}"],
        422 => array_map(fn ($fault) => "{$fault['source']['pointer']}: {$fault['detail']}", $answer['errors']),
        default => [$answer['error']['message']],
    };
    fail(implode("\n", $lines));
}

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/** Sends JSON and gives the id of the created resource. */
function create(string $path, array $resource, string ...$headers): string
{
    $body = json_encode($resource, JSON_THROW_ON_ERROR);
    $answer = call('POST', $path, $body, 'Content-Type: application/json', ...$headers);
    return json_decode($answer, true)['data']['id'];
}

$name = uniqid('Invoices '); // It tells the templates of several runs apart.
$content = '<h1>Invoice {{ number }}</h1><p>{{ customer.name }}: {{ total|currency("EUR") }}</p>';
$template_id = create('/api/v1/templates', ['template' => ['name' => $name, 'content' => $content]]);

$part = ['type' => 'template', 'content' => ['template_id' => $template_id]];
$creation = ['batch' => ['name' => $name, 'render' => ['parts' => [$part]]]];
// With an idempotency key, a repeated request returns the same batch.
$batch_id = create('/api/v1/batches', $creation, "Idempotency-Key: $name");
$path = "/api/v1/batches/$batch_id";

call('PUT', "$path/rows", file_get_contents('invoices.csv'), 'Content-Type: text/csv');

$deadline = time() + 3600;
// The interval grows, because requests are limited by the minute.
for ($interval = 1; ; $interval = min($interval * 2, 15)) {
    $batch = json_decode(call('GET', $path), true)['data'];
    $hold = $batch['hold'] === null ? '' : ", on hold: {$batch['hold']}";
    echo "{$batch['succeeded']} of {$batch['rows']} documents, {$batch['failed']} failed$hold\n";
    if (in_array($batch['state'], ['ended', 'cancelled'], true)) {
        break;
    }
    if (time() > $deadline) {
        fail("$path has not ended within an hour, and goes on");
    }
    sleep($interval);
}

$errors = call('GET', "$path/errors");
foreach (array_filter(explode("\n", $errors)) as $line) {
    ['row' => $row, 'error' => $error] = json_decode($line, true);
    fwrite(STDERR, "Row $row: {$error['code']}: {$error['message']}\n");
}

// The results name the render of each row: GET /api/v1/renders/{id} locates its document.
file_put_contents('results.csv', call('GET', "$path/results?format=csv"));
if ($batch['succeeded'] < $batch['rows']) {
    fail('Some rows have no document');
}
