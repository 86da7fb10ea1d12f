<?php
// Sends each attack of attacks.json to a receiver, and says which answers do harm.
//
//     php judge.php attacks.json http://localhost:8000/webhooks/payments
//
// Give the receiver the `secret` of the file and an order with its `reference`. Exits with 1 if an
// answer does harm. It writes to the socket itself, because HTTP clients repair what attackers send.

/** Returns the status class of the answer, or "none". */
function answer(array $url, array $attack): string
{
    $body = base64_decode($attack['body']);
    $port = $url['port'] ?? 80;
    $headers = ['host' => $url['host'] . ':' . $port, 'content-length' => strlen($body)];
    $request = 'POST ' . ($url['path'] ?? '/') . " HTTP/1.1\r\n";
    foreach (array_merge($attack['headers'], $headers, ['connection' => 'close']) as $name => $value) {
        $request .= $name . ': ' . preg_replace_callback('/[^\x00-\x7f]/u', 'latin1', $value) . "\r\n";
    }
    $connection = stream_socket_client('tcp://' . $url['host'] . ':' . $port, $code, $text, 20);
    stream_set_timeout($connection, 20);
    @fwrite($connection, $request . "\r\n" . $body); // It may answer before it has read the body.
    $line = (string) @fgets($connection);
    fclose($connection);
    return str_starts_with($line, 'HTTP/1.') ? $line[9] . 'xx' : 'none';
}

/** Returns the byte of a Latin-1 character that JSON gave as UTF-8. */
function latin1(array $match): string
{
    return chr((ord($match[0][0]) & 3) << 6 | ord($match[0][1]) & 63);
}

$attacks = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR)['attacks'];
$harmful = 0;
foreach ($attacks as $attack) {
    $got = answer(parse_url($argv[2]), $attack);
    if (in_array($got, $attack['expected'], true)) continue;
    $harmful++;
    echo "$attack[name]: got $got. $attack[why]\n";
}
echo count($attacks) . " attacks, $harmful answers do harm\n";
exit($harmful ? 1 : 0);
