/** Written from docs/public/openapi.yaml by its test: `npm test -- -u`. */

/**
 * The merchant's own order reference. Never repeat one.
 */
export type Reference = string
/**
 * In the smallest unit of the currency
 */
export type Amount = number
/**
 * XOF in the contract's examples
 */
export type Currency = string
export type Status = ("pending" | "success" | "failed" | "cancelled")
export type PaymentLinkRequest = (FixedAmountLink | FreeAmountLink)

export interface Schemas {
Reference?: Reference
Amount?: Amount
Currency?: Currency
Status?: Status
PaymentLinkRequest?: PaymentLinkRequest
FixedAmountLink?: FixedAmountLink
FreeAmountLink?: FreeAmountLink
PaymentLink?: PaymentLink
Payment?: Payment
Notification?: Notification
}
export interface FixedAmountLink {
amount: Amount
reference: Reference
description?: string
/**
 * After paying
 */
return_url?: string
/**
 * After cancelling
 */
cancel_url?: string
/**
 * Set it for an order
 */
single_use?: boolean
}
export interface FreeAmountLink {
amount_min: Amount
amount_max: Amount
reference: Reference
description: string
/**
 * After paying
 */
return_url?: string
/**
 * After cancelling
 */
cancel_url?: string
/**
 * Set it for an order
 */
single_use?: boolean
}
export interface PaymentLink {
/**
 * The last path segment of `url`
 */
token: string
/**
 * Where the customer pays
 */
url: string
amount?: Amount
currency: Currency
reference: Reference
status: Status
}
export interface Payment {
reference: Reference
type: string
amount?: Amount
currency: Currency
status: Status
}
export interface Notification {
reference: Reference
}
