export interface AuditOptions {
  /** The address of the receiver, `http:` or `https:`. */
  readonly url: string | URL;
  /** The receiver's webhook secret. */
  readonly secret: string;
  /** The order that the genuine deliveries may credit. Default `paylink-audit`. */
  readonly reference?: string | undefined;
  /** The receiver's body limit in bytes. By default, the audit does not test the exact limit. */
  readonly bodyLimit?: number | undefined;
  /** Additional headers for every request. A `Host` replaces the host in `url`. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds for the reply to a slow body. Default 15,000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for the connection and the first reply. Default 1,500. */
  readonly firstAnswer?: number | undefined;
  /** Ends the audit early with an incomplete report. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each result. `total` grows if the audit can judge more. */
  readonly onProgress?:
    | ((progress: { readonly done: number; readonly total: number; readonly name: string }) => void)
    | undefined;
}
