// The kinds of messages between sites: those of the sites themselves, and those that roles declare.
import * as z from 'zod'

/** The form of a name; whether the site knows the kind, `MessageKinds` tells. */
export const messageKind = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be lower-case letters, digits and underscores')
export type MessageKind = z.infer<typeof messageKind>

/** `commutes`: applied in any order, where the same set has the same effect. `ordered`: after all earlier messages. */
export type MessageOrder = 'commutes' | 'ordered'

/**
 * Kinds by which sites tell of themselves; no role and no person sends them. Of receipts and inventories the newest
 * counts. Key sets have an order of their own, and a revocation must not wait for lost messages.
 */
export const controlKinds = { keys: 'commutes', inventory: 'commutes', gap_receipt: 'commutes' } as const

export type MessageKinds = {
  /** Those of the roles in the order of their declaration, then those of the sites. */
  readonly names: readonly string[]
  /** Those that roles and people send. */
  readonly sendable: readonly string[]
  /** Whether messages of the kind wait for earlier ones; those of an unknown kind do. */
  isOrdered(kind: MessageKind): boolean
}

/** What the outline of a role declares. */
type MessageTaker = {
  readonly name: string
  readonly owns_site_files?: true
  readonly takes: Readonly<Record<string, MessageOrder>>
}

/** Joins the kinds of the roles. Throws for a malformed name, a kind of two roles, or a control kind of another role. */
export function joinMessageKinds(takers: readonly MessageTaker[]): MessageKinds {
  const orders = new Map<string, MessageOrder>()
  for (const { name, owns_site_files = false, takes } of takers) {
    for (const [kind, order] of Object.entries(takes)) {
      if (!messageKind.safeParse(kind).success) throw new TypeError(`the role ${name} takes a malformed kind "${kind}"`)
      if (Object.hasOwn(controlKinds, kind)) {
        if (!owns_site_files) throw new TypeError(`the role ${name} takes "${kind}", which is of the sites themselves`)
      } else if (orders.has(kind)) throw new TypeError(`two roles take messages of kind "${kind}"`)
      else orders.set(kind, order)
    }
  }
  const sendable = [...orders.keys()]
  for (const [kind, order] of Object.entries(controlKinds)) orders.set(kind, order)
  return { names: [...orders.keys()], sendable, isOrdered: (kind) => orders.get(kind) !== 'commutes' }
}
