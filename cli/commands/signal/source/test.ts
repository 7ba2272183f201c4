// Tries a source of signals without raising anything.
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { colourText, escapeControls, formatFields, formatTable, printResult } from '../../../terminal/output.ts'

const sampleSignal = z.looseObject({
  ...{ signal_type: z.string(), severity: z.string(), title: z.string() },
  subject: z.looseObject({ id: z.string() }),
})
const sourceTestResponse = z.looseObject({
  ...{ ok: z.boolean(), detail: z.string(), items: z.int(), refused: z.int() },
  ...{ signals: z.array(sampleSignal), faults: z.array(z.string()) },
})

export const definition = command({
  words: 'signal source test',
  summary: 'try a source without raising anything: its secrets, what it says, what the mapping makes of it',
  notes: 'Exit code 5 when it does not work.',
  positionals: { name: required(text('SOURCE', 'as the profile calls it')) },
  options: { sample: text('FILE', 'JSON in place of what the source says'), ...serviceOptions },
  example: 'platform signal source test siem --sample alert.json',
  async run({ name, sample, ...given }, terminal) {
    const api = await connectService(given, terminal)
    const said = sample === undefined ? {} : { sample: readSampleFile(sample) }
    const found = sourceTestResponse.parse(await api.call('intelligence.signal-source.test', { name, ...said }))
    printResult(terminal, given.json, found, () => {
      const { ok, detail, items, refused } = found
      const signals = found.signals.map(({ signal_type, severity, title, subject }) => ({
        ...{ type: signal_type, severity, subject: subject.id, title },
      }))
      return [
        formatFields(terminal, {
          works: colourText(terminal, ok ? 'green' : 'red', ok ? 'yes' : 'no'),
          detail,
          items,
          refused,
        }),
        ...(signals.length > 0 ? [formatTable(terminal, signals, ['type', 'severity', 'subject', 'title'], '')] : []),
        ...found.faults.map((fault) => escapeControls(fault)),
      ].join('\n')
    })
    return found.ok ? 0 : 5
  },
})

function readSampleFile(file: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    throw new CommandFailure(2, `--sample: ${file} cannot be read as a JSON object`)
  }
}
