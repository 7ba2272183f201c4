// Tells every peer of the site's key set: owed until it is sent, also to a peer that is pinned later.
import type { Call } from '../../../kernel/call.ts'
import { digestOf, type KeysData, keySetIn, most_before } from '../../../kernel/key-set.ts'
import type { Jws } from '../../../kernel/keys.ts'
import { lowestLabel } from '../../../kernel/label.ts'
import { keys_schema } from '../../../kernel/one-way.ts'
import type { Peer } from '../../../kernel/peer.ts'
import type { Worker } from '../../../kernel/role.ts'
import { keySetsPart, peersPart, transportsPart } from '../parts.ts'

const five_seconds_ms = 5_000

export const keysets: Worker = { name: 'keysets', when: { every_ms: five_seconds_ms }, run }

async function run(call: Call): Promise<void> {
  const { all, told, unsent } = call.part(keySetsPart)
  const sets = all()
  const last = sets.at(-1)
  const version = last && keySetIn(last)?.version
  if (!last || version === undefined) return
  for (const peer of await call.part(peersPart).list()) {
    if (told.get(peer.name) === version || call.signal.aborted) continue
    try {
      await send(call, peer, last, version, sets.slice(0, -1))
      told.set(peer.name, version)
      unsent.delete(peer.name)
    } catch (error) {
      // A channel that stands now is tried again; the other peers are told meanwhile.
      const why = `${version}: ${error}`
      if (unsent.get(peer.name) !== why) call.log.warn('site.keyset.unsent', { peer: peer.name, detail: why })
      unsent.set(peer.name, why)
    }
  }
}

async function send(call: Call, peer: Peer, last: Jws, version: number, before: readonly Jws[]): Promise<void> {
  const [transport] = call.part(transportsPart)
  if (!transport) return
  const said: KeysData = { keyset: last, before: newestThatFit(before) }
  await transport.send(
    {
      peer: peer.name,
      // By what it says: a repeat finds the message that was sent.
      event_id: `keyset:${version}:${digestOf(last).slice(0, 32)}`,
      kind: 'keys',
      schema: keys_schema,
      body: said,
      label: lowestLabel(peer.tenant_id, call.site.labels, call.site.tenant_id),
      parent_block_ids: [],
    },
    call.trace,
  )
}

/** A quarter of what a body may hold. */
const most_bytes = 1_048_576

/** For a peer that has missed some versions: as many before the last as fit, oldest first. */
function newestThatFit(before: readonly Jws[]): Jws[] {
  const fitting: Jws[] = []
  let bytes = 0
  for (const set of before.slice(-most_before).toReversed()) {
    bytes += JSON.stringify(set).length
    if (bytes > most_bytes) break
    fitting.unshift(set)
  }
  return fitting
}
