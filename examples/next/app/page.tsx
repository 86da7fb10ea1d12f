export default function Page() {
  return <p>Payment webhooks listen under /api/webhooks.</p>;
}
