// Sends missing messages again: those that a peer's receipt names, or a range of numbers.

import { setTimeout as pause } from 'node:timers/promises'
import { jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { ResendReport } from '../../../daemon/kernel/messaging/one-way-control.ts'
import type { ServiceClient } from '../../client/client.ts'
import { max_receipt_bytes, readInputFile } from '../../file/input-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { integer, text } from '../../program/params.ts'
import { formatFields, formatTable, line_break, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop resend',
  summary: 'Send messages again, byte for byte',
  notes: [
    'Takes either a receipt of the peer (--receipt), or numbers of one epoch (PEER with --first and --last). A',
    'repeat does no harm: the peer drops duplicates. Messages that are no longer kept are listed, the others are',
    'sent; exit code 5: some were not sent.',
  ].join('\n'),
  positionals: { peer: text('PEER', 'Peer that misses messages, without --receipt') },
  options: {
    receipt: text('FILE', 'Receipt from `platform filedrop gaps` at the peer'),
    first: integer('NUMBER', 'First number to send', 1),
    last: integer('NUMBER', 'Last number to send', 1),
    epoch: integer('NUMBER', 'Epoch (default: the current one)', 1, 99_999_999),
    ...serviceOptions,
  },
  example: 'platform filedrop resend --receipt gaps-bravo-1-20260503T120000Z.json',
  async run(params, terminal) {
    const requestResend = createResendRequester(params)
    const api = await connectService(params, terminal)
    const report = await resendUntilDone((next) => requestResend(api, next), terminal)
    const { not_resent, next: _next, ...counts } = report
    printResult(terminal, params.json, { ...counts, not_resent }, () =>
      [
        formatFields(terminal, counts),
        ...(not_resent.length > 0 ? ['', formatTable(terminal, not_resent, ['first', 'last', 'why'], '')] : []),
      ].join(line_break),
    )
    return not_resent.length === 0 ? 0 : 5
  },
})

type ResendInput = {
  readonly peer: string | undefined
  readonly receipt: string | undefined
  readonly first: number | undefined
  readonly last: number | undefined
  readonly epoch: number | undefined
}
type ResendRequester = (api: ServiceClient, from: number | undefined) => Promise<ResendReport>

/** Request by receipt or by numbers. Throws `CommandFailure` (2) for both at once, and for incomplete numbers. */
function createResendRequester({ peer, receipt, first, last, epoch }: ResendInput): ResendRequester {
  if (receipt !== undefined) {
    const hasRange = [peer, first, last, epoch].some((value) => value !== undefined)
    if (hasRange)
      throw new CommandFailure(
        2,
        '--receipt already names the missing messages: leave out PEER, --first, --last and --epoch',
      )
    const signedReceipt = parseReceipt(readInputFile(receipt, max_receipt_bytes))
    return async (api, from) => toResent(await api.call('site.gap.resend', { receipt: signedReceipt, from }))
  }
  if (peer === undefined || first === undefined || last === undefined) {
    throw new CommandFailure(2, 'give --receipt FILE, or PEER with --first and --last')
  }
  if (last < first) throw new CommandFailure(2, `--last ${last} is below --first ${first}`)
  return async (api, from = first) =>
    toResent(await api.call('site.message.resend', { peer, epoch, first: from, last }))
}

function parseReceipt(content: string) {
  const receipt = parseJsonAs(jws, content)
  if (receipt) return receipt
  throw new CommandFailure(
    2,
    'the file is not a receipt',
    'run `platform filedrop gaps PEER --out DIR` at the peer to make one',
  )
}

function toResent(response: Readonly<Record<string, unknown>>): ResendReport {
  return response as ResendReport
}

const retry_delay_ms = 3_000

/** Repeats the request until all messages were sent again, and waits when the service limits the rate. */
async function resendUntilDone(
  requestResend: (from: number | undefined) => Promise<ResendReport>,
  terminal: Terminal,
): Promise<ResendReport> {
  let report: ResendReport | undefined
  for (;;) {
    const response = await requestResend(report?.next).catch((error: unknown) => {
      if (report && isRefusal(error) && error.code === 'rate_limited') return undefined
      throw error
    })
    if (response) report = addResent(report, response)
    const isWaiting = response === undefined
    terminal.progress(`${report?.resent ?? 0} sent again${isWaiting ? '; waiting for filedrop.resend_per_min' : ''}`)
    if (report?.next === undefined && report) {
      terminal.progress('')
      return report
    }
    if (isWaiting) await pause(retry_delay_ms)
  }
}

function addResent(
  previous: ResendReport | undefined,
  { resent, waiting, not_resent, ...latest }: ResendReport,
): ResendReport {
  return {
    ...latest,
    resent: (previous?.resent ?? 0) + resent,
    waiting: (previous?.waiting ?? 0) + waiting,
    not_resent: [...(previous?.not_resent ?? []), ...not_resent],
  }
}
