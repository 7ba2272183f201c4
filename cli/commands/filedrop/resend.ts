// Sends again what never arrived: what a peer's receipt names, or a run of numbers.
import { setTimeout as pause } from 'node:timers/promises'
import { isRefused } from '../../../daemon/kernel/errors.ts'
import { jws } from '../../../daemon/kernel/keys.ts'
import type { Resent } from '../../../daemon/kernel/one-way.ts'
import type { Client } from '../../client/client.ts'
import { command, Failure } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { fields, show, table } from '../../output.ts'
import { text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'filedrop resend',
  summary: 'send the same bytes again; exit code 5 when some cannot go',
  notes: [
    'Either what a peer’s receipt names (--receipt), or numbers of one epoch (PEER with --first and --last).',
    'A repeat does no harm: what arrived is a duplicate there. What is no longer kept is told, and the rest goes.',
  ].join('\n'),
  takes: { peer: text('PEER', 'the peer that misses it, where no receipt says so') },
  options: {
    receipt: text('FILE', 'made by `platform filedrop gaps` at the peer'),
    first: whole('NUMBER', 'from this number on', 1),
    last: whole('NUMBER', 'up to this number', 1),
    epoch: whole('NUMBER', 'of this epoch; else the current one', 1, 99_999_999),
    ...serviceOptions,
  },
  example: 'platform filedrop resend --receipt gaps-bravo-1-20260503T120000Z.json',
  async run(given, terminal) {
    const ask = askingFor(given)
    const api = await service(given, terminal)
    const done = await untilDone((from) => ask(api, from), terminal)
    const { not_resent, next: _next, ...counted } = done
    show(terminal, given.json, { ...counted, not_resent }, () =>
      [
        fields(terminal, counted),
        ...(not_resent.length > 0 ? ['', table(terminal, not_resent, ['first', 'last', 'why'], '')] : []),
      ].join('\n'),
    )
    return not_resent.length === 0 ? 0 : 5
  },
})

type Given = {
  readonly peer: string | undefined
  readonly receipt: string | undefined
  readonly first: number | undefined
  readonly last: number | undefined
  readonly epoch: number | undefined
}
type Ask = (api: Client, from: number | undefined) => Promise<Resent>

/** Throws `Failure` (2) for two ways at once, and for half of one. */
function askingFor({ peer, receipt, first, last, epoch }: Given): Ask {
  if (receipt !== undefined) {
    const others = [peer, first, last, epoch].some((each) => each !== undefined)
    if (others) throw new Failure(2, 'a receipt says itself what is missing: name no peer and no numbers beside it')
    const note = noteIn(readInputFile(receipt))
    return async (api, from) => resentIn(await api.call('site.gap.resend', { receipt: note, from }))
  }
  if (peer === undefined || first === undefined || last === undefined) {
    throw new Failure(2, 'give --receipt FILE, or PEER with --first and --last')
  }
  if (last < first) throw new Failure(2, '--last is below --first')
  return async (api, from = first) =>
    resentIn(await api.call('site.message.resend', { peer, epoch, first: from, last }))
}

function noteIn(content: string) {
  try {
    return jws.parse(JSON.parse(content))
  } catch {
    throw new Failure(2, 'the file is no receipt', '`platform filedrop gaps` at the peer makes one')
  }
}

function resentIn(answer: Readonly<Record<string, unknown>>): Resent {
  return answer as Resent
}

const patience_ms = 3_000

/** Call by call. Where so many went again that the rest must wait, it waits: what is missing is to arrive. */
async function untilDone(ask: (from: number | undefined) => Promise<Resent>, terminal: Terminal): Promise<Resent> {
  let done: Resent | undefined
  for (;;) {
    const answer = await ask(done?.next).catch((error: unknown) => {
      if (done && isRefused(error) && error.code === 'rate_limited') return undefined
      throw error
    })
    if (answer) done = sum(done, answer)
    const isWaiting = answer === undefined
    terminal.progress(`${done?.resent ?? 0} sent again${isWaiting ? '; waiting for filedrop.resend_per_min' : ''}`)
    if (done?.next === undefined && done) {
      terminal.progress('')
      return done
    }
    if (isWaiting) await pause(patience_ms)
  }
}

function sum(before: Resent | undefined, { resent, waiting, not_resent, ...last }: Resent): Resent {
  return {
    ...last,
    resent: (before?.resent ?? 0) + resent,
    waiting: (before?.waiting ?? 0) + waiting,
    not_resent: [...(before?.not_resent ?? []), ...not_resent],
  }
}
