"""A merchant's program in another language. Its argument names its credit: right or broken.

`order` and `books` as the first argument store and read an order instead.
"""
import hashlib
import hmac
import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2

RECEIPT = 'INSERT INTO receipts VALUES (%s)'
PAY = 'UPDATE orders SET paid_at = now() WHERE reference = %s'
BOOKS = """SELECT paid_at IS NOT NULL, (SELECT count(*) FROM receipts r WHERE r.reference = o.reference)
FROM orders o WHERE reference = %s"""


def right(db, cursor, reference):
    cursor.execute(PAY + ' AND paid_at IS NULL', (reference,))
    if cursor.rowcount == 1:
        cursor.execute(RECEIPT, (reference,))
    db.commit()


def broken(db, cursor, reference):
    cursor.execute('SELECT paid_at FROM orders WHERE reference = %s', (reference,))
    if cursor.fetchone()[0] is None:
        cursor.execute(PAY, (reference,))
        db.commit()
        cursor.execute(RECEIPT, (reference,))
    db.commit()


def on_database(work, *args):
    db = psycopg2.connect(os.environ['DATABASE_URL'])
    try:
        return work(db, db.cursor(), *args)
    finally:
        db.close()


def order(db, cursor):
    values = [os.environ[name] for name in ('REFERENCE', 'AMOUNT', 'CURRENCY')]
    cursor.execute('INSERT INTO orders (reference, amount, currency) VALUES (%s, %s, %s)', values)
    db.commit()


def books(db, cursor):
    cursor.execute(BOOKS, (os.environ['REFERENCE'],))
    paid, effects = cursor.fetchone()
    print(json.dumps({'paid': paid, 'effects': effects}))


def is_paid(reference):
    url = os.environ['PAYLINK_BASE_URL'] + '/v1/payments/' + reference
    headers = {'authorization': 'Bearer ' + os.environ['PAYLINK_API_KEY']}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return json.load(answer)['status'] == 'success'


class Webhook(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = self.rfile.read(int(self.headers['content-length']))
        secret = os.environ['WEBHOOK_SECRET'].encode()
        signature = hmac.new(secret, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(signature, self.headers['x-service-signature']):
            return self.answer(401)
        try:
            reference = json.loads(body)['reference']
            if is_paid(reference):
                on_database(globals()[sys.argv[1]], reference)
                return self.answer(200)
        except Exception:
            pass
        return self.answer(503)

    def answer(self, status):
        self.send_response(status)
        self.send_header('content-length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


if sys.argv[1] in ('order', 'books'):
    on_database(globals()[sys.argv[1]])
else:
    ThreadingHTTPServer(('127.0.0.1', int(sys.argv[2])), Webhook).serve_forever()
