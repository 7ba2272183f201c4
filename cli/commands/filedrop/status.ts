// Shows every channel with its numbers, backlog and trouble, and follows a backlog until it is gone.
import { setTimeout as pause } from 'node:timers/promises'
import { offline } from '../../../daemon/boot/offline.ts'
import { type Channel, channelTable, channelTroubles, drainLine } from '../../channel-text.ts'
import type { Client } from '../../client/client.ts'
import { command, Failure } from '../../command.ts'
import { show } from '../../output.ts'
import { flag, text } from '../../params.ts'
import { noteUnaccredited } from '../../peer-text.ts'
import { service, serviceOptions } from '../../service.ts'
import { requireSite } from '../../site.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'filedrop status',
  summary: 'channels: state, numbers, gaps, backlog, inventories, quarantine, pace',
  notes: [
    'BACKLOG: messages that no carrier has taken (out) or that are not taken in yet (in), OLDEST the age of the first;',
    'HELD: those that wait behind a gap; INVENTORY: the age of the last; PER MIN: over the last five minutes;',
    'STATE closed: pinned, and without a channel until it is accredited.',
    'With --watch it ends when no backlog is left, with a bar on a terminal; it fails when a channel with one stops.',
  ].join('\n'),
  options: {
    peer: text('PEER', 'the channels with this peer alone'),
    watch: flag('wait until the backlog is gone'),
    ...serviceOptions,
  },
  example: 'platform filedrop status --watch',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const look = () => channelsOf(api, given.peer)
    const items = given.watch ? await drained(look, terminal) : await look()
    const closed = given.url === undefined ? await closedHere(given, items, terminal) : []
    const names = closed.map(({ peer }) => peer)
    show(terminal, given.json, { items }, () => channelTable(terminal, items, names))
    for (const trouble of channelTroubles(terminal, items)) terminal.note(trouble)
    noteUnaccredited(terminal, closed)
    return 0
  },
})

type Chosen = { readonly site: string | undefined; readonly peer: string | undefined }

/** Peers of the site on this machine that are pinned, have no channel, and may have none as its profile stands. */
async function closedHere({ site, peer }: Chosen, items: readonly Channel[], terminal: Terminal) {
  const folder = requireSite({ site }, terminal)
  const peers = await offline.peers()
  const names = (await peers.list(folder))
    .map(({ name }) => name)
    .filter((name) => (peer === undefined || name === peer) && !items.some((item) => item.peer === name))
  return peers.unaccredited(folder, terminal.env, names, Date.now())
}

async function channelsOf(api: Client, peer: string | undefined): Promise<readonly Channel[]> {
  const { items } = await api.call('site.channel.list', {})
  return (items as readonly Channel[]).filter(
    (channel) => channel.transport === 'filedrop' && (peer === undefined || channel.peer === peer),
  )
}

const look_every_ms = 1_000

/** What is there once nothing waits. Throws `Failure` (1) when a channel with a backlog cannot drain. */
async function drained(look: () => Promise<readonly Channel[]>, terminal: Terminal): Promise<readonly Channel[]> {
  let most = 0
  let since = performance.now()
  for (;;) {
    const channels = await look()
    const left = channels.reduce((sum, { backlog }) => sum + backlog, 0)
    if (left > most) {
      most = left
      since = performance.now()
    }
    terminal.progress(left === 0 ? '' : drainLine(left, most, (performance.now() - since) / 1_000))
    if (left === 0) return channels
    const stuck = channels.find(({ backlog, state }) => backlog > 0 && state !== 'open')
    if (stuck) {
      terminal.progress('')
      throw new Failure(1, `${stuck.peer} ${stuck.direction} is ${stuck.state}: ${stuck.detail}`)
    }
    await pause(look_every_ms)
  }
}
