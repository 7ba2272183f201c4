// Records of purges: orders, what they found, and the bodies that were sent.
import type { MessageNumber } from './journal.ts'

/** An order to remove a body, in force for ever. `digest`: of the body, or of the statement that it belongs to. */
export type PurgeOrder = { readonly digest: string; readonly reason: string; readonly at: number }

/** What a purge came upon; each list grows with every find and holds nothing twice. */
export type PurgeFinds = {
  /** Where the body lay, as `<peer>/<folder>/<file>` or `journal/<channel>/<epoch>-<seq>`. */
  readonly places: readonly string[]
  readonly msg_ids: readonly string[]
  /** Sessions that such a message spoke of. */
  readonly sessions: readonly string[]
}

export type SentBody = MessageNumber & { readonly channel: string; readonly msg_id: string; readonly body: string }
