// Sends the site's key set to every peer: pending until it is sent, also for a peer that is pinned later.

import { digestKeySet, type KeysData, max_previous_sets, parseKeySet } from '../../../kernel/cryptography/key-set.ts'
import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import { lowestLabel } from '../../../kernel/label/label.ts'
import { keys_schema } from '../../../kernel/messaging/one-way-control.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { keySetsPart, peersPart, transportsPart } from '../parts.ts'

const interval_ms = 5_000

export const keysets: Worker = { name: 'keysets', when: { every_ms: interval_ms }, run }

async function run(call: Call): Promise<void> {
  const { all, sent_versions, logged_failures } = call.part(keySetsPart)
  const sets = all()
  const last = sets.at(-1)
  const version = last && parseKeySet(last)?.version
  if (!last || version === undefined) return
  for (const peer of await call.part(peersPart).list()) {
    if (sent_versions.get(peer.name) === version || call.signal.aborted) continue
    try {
      await sendKeySet(call, peer, last, version, sets.slice(0, -1))
      sent_versions.set(peer.name, version)
      logged_failures.delete(peer.name)
    } catch (error) {
      // A channel that fails is tried again later and does not delay the other peers.
      const failure = `${version}: ${error}`
      if (logged_failures.get(peer.name) !== failure)
        call.log.warn('site.keyset.unsent', { peer: peer.name, detail: failure })
      logged_failures.set(peer.name, failure)
    }
  }
}

async function sendKeySet(call: Call, peer: Peer, last: Jws, version: number, before: readonly Jws[]): Promise<void> {
  const [transport] = call.part(transportsPart)
  if (!transport) return
  const data: KeysData = { keyset: last, before: newestThatFit(before) }
  await transport.send(
    {
      peer: peer.name,
      // Derived from the content: a repeat finds the message that was sent.
      event_id: `keyset:${version}:${digestKeySet(last).slice(0, 32)}`,
      kind: 'keys',
      schema: keys_schema,
      body: data,
      label: lowestLabel(peer.tenant_id, call.site.labels, call.site.tenant_id),
      parent_block_ids: [],
    },
    call.trace,
  )
}

/** A quarter of the largest body. */
const max_history_bytes = 1_048_576

/** For a peer that has missed some versions: as many before the last as fit, oldest first. */
function newestThatFit(before: readonly Jws[]): Jws[] {
  const fitting: Jws[] = []
  let bytes = 0
  for (const set of before.slice(-max_previous_sets).toReversed()) {
    bytes += JSON.stringify(set).length
    if (bytes > max_history_bytes) break
    fitting.unshift(set)
  }
  return fitting
}
