<?php
// Renders a PDF from HTML and from a template. Needs nothing but PHP.

/** Sends JSON and gives the answer's bytes; on an error says what is wrong and ends. */
function call(string $path, array $body): string
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ['Authorization: Bearer ' . getenv('PLATEN_KEY'), 'Content-Type: application/json'],
        'content' => json_encode($body, JSON_THROW_ON_ERROR),
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
    fwrite(STDERR, implode("\n", $lines) . "\n");
    exit(1);
}

function render(string|array $part, string $file_name): void
{
    $pdf = call('/api/v1/renderers/pdf', ['parts' => [$part], 'output_encoding' => 'binary']);
    file_put_contents($file_name, $pdf);
}

render('<h1>Hello</h1>', 'hello.pdf');

$content = '<h1>Invoice {{ number }}</h1><p>{{ total|currency("EUR") }}</p>';
$name = uniqid('Invoice '); // It tells the templates of several runs apart.
$created = json_decode(call('/api/v1/templates', ['template' => ['name' => $name, 'content' => $content]]), true);
$template = ['template_id' => $created['data']['id'], 'context' => ['number' => 7, 'total' => 1234.5]];
render(['type' => 'template', 'content' => $template], 'invoice.pdf');
