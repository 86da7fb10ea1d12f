export default function Page() {
  return (
    <form method="post" action="/api/checkout">
      <button>Pay 15,000 XOF</button>
    </form>
  );
}
