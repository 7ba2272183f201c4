// Records of purges: orders to remove a body from this site, and the places where it was found.
import type { MessageNumber } from './journal.ts'

/** An order to remove a body, in force permanently. `digest`: of the body, or of the statement that it belongs to. */
export type PurgeOrder = { readonly digest: string; readonly reason: string; readonly at: number }

/** Finds of a purge. Each list only grows, without duplicates. */
export type PurgeFinds = {
  /** Where the body was, as `<peer>/<folder>/<file>` or `journal/<channel>/<epoch>-<seq>`. */
  readonly places: readonly string[]
  readonly msg_ids: readonly string[]
  /** Sessions that such a message was about. */
  readonly sessions: readonly string[]
}

/** A message on its way. `body`: the SHA-384 digest of its body. */
export type SentBody = MessageNumber & { readonly channel: string; readonly msg_id: string; readonly body: string }
