const SHAPE = 'M4 2h16v20l-2.7-2-2.6 2-2.7-2-2.7 2-2.6-2L4 22V2Z';

/** The icon as a data URL, so that the page loads nothing. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#0b6b3a" ' +
    `d="${SHAPE}"/><path stroke="#fff" stroke-width="2" d="M8 8h8M8 13h5"/></svg>`,
)}`;

export function Icon() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" fill="none">
      <path fill="var(--strong)" d={SHAPE} />
      <path stroke="var(--on-strong)" stroke-width="2" d="M8 8h8M8 13h5" />
    </svg>
  );
}
