"""A program in another language. The variable CREDIT names its credit: right or broken."""
import hashlib
import hmac
import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2

RECEIPT = 'INSERT INTO receipts VALUES (%s)'
PAY = 'UPDATE orders SET paid_at = now() WHERE reference = %s'


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


def credit(reference):
    db = psycopg2.connect(os.environ['DATABASE_URL'])
    try:
        globals()[os.environ['CREDIT']](db, db.cursor(), reference)
    finally:
        db.close()


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
                credit(reference)
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


ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Webhook).serve_forever()
