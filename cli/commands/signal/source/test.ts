// Tests a source of signals without raising any.
import * as z from 'zod'
import { readJsonFile } from '../../../file/json-file.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { colourText, formatFields, formatTable, line_break, printResult } from '../../../terminal/output.ts'

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
  summary: 'Test the secrets, response and mapping of a source without raising signals',
  notes: 'Exit code 5 if the test fails.',
  positionals: { name: required(text('SOURCE', 'Name of the source in the profile')) },
  options: { sample: text('FILE', 'JSON file to use in place of the response of the source'), ...serviceOptions },
  example: 'platform signal source test siem --sample alert.json',
  async run({ name, sample, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const input = sample === undefined ? {} : { sample: readSampleFile(sample) }
    const result = sourceTestResponse.parse(await api.call('intelligence.signal-source.test', { name, ...input }))
    printResult(terminal, params.json, result, () => {
      const { ok, detail, items, refused } = result
      const signals = result.signals.map(({ signal_type, severity, title, subject }) => ({
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
        ...result.faults,
      ].join(line_break)
    })
    return result.ok ? 0 : 5
  },
})

function readSampleFile(file: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(readJsonFile(file))
  } catch {
    throw new CommandFailure(2, `--sample: could not read ${file} as a JSON object`)
  }
}
