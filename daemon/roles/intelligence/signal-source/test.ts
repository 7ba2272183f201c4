// Tests the secrets, response and mapping of a source without raising signals.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { itemFields } from '../signal-intake/item/model.ts'
import { mapItem, selectItems } from '../signal-intake/mapping/rules.ts'
import { polledSourcesPart, secretsPart } from '../signal-intake/parts.ts'
import { type IntakeSource, intakeSettings, source_test_ms } from '../signal-intake/settings.ts'
import { isOwnSource, resolveSource } from './resolve-source.ts'

const max_shown_items = 5

const sourceTestResult = z
  .strictObject({
    ok: z.boolean(),
    detail: z.string(),
    items: z.int().min(0).meta({ description: 'Number of items' }),
    refused: z.int().min(0).meta({ description: 'Number of items that are not signals' }),
    signals: z.array(itemFields).meta({ description: 'The first signals that would be raised' }),
    faults: z.array(z.string()),
  })
  .meta({ id: 'SourceTried' })

export const test = operation({
  summary: 'Test a source without raising signals; a sample replaces its response',
  method: 'POST',
  path: '/api/v1/signal-source/{name}/test',
  input: z.strictObject({ name: shortText, sample: z.record(z.string(), z.unknown()).optional() }),
  output: sourceTestResult,
  errors: ['not_found'],
  allow: 'intelligence:operate',
  time_limit_ms: source_test_ms,

  async run(call, { name, sample }) {
    const source = call.settings(intakeSettings).sources.find((each) => each.name === name && isOwnSource(call, each))
    if (!source) return refuse('not_found', `the profile has no source ${name} of your tenant`)
    const documents = await loadDocuments(call, source, sample)
    const identity = resolveSource(call, source)
    for (const outcome of [identity, documents])
      if (isRefusal(outcome))
        return { ok: false, detail: outcome.message, items: 0, refused: 0, signals: [], faults: [] }
    return mapDocuments(source, documents as readonly unknown[])
  },
})

async function loadDocuments(call: Call, source: IntakeSource, sample: unknown): Promise<readonly unknown[] | Refusal> {
  if (source.kind === 'webhook') {
    const secrets = await call.part(secretsPart).read(source.secret_files)
    if (isRefusal(secrets)) return secrets
  }
  if (sample !== undefined) return [sample]
  if (source.kind === 'webhook') return []
  const polled = call.part(polledSourcesPart).sources.get(source.name)
  const pollResult = await polled?.poll(undefined, call.signal)
  if (isRefusal(pollResult)) return pollResult
  return (pollResult?.sets ?? []).flatMap(({ documents }) => documents)
}

function mapDocuments(
  { mapping, kind }: IntakeSource,
  documents: readonly unknown[],
): z.infer<typeof sourceTestResult> {
  const lists = documents.map((document) => (isRefusal(document) ? document : selectItems(mapping, document)))
  const items = lists.flatMap((list) => (isRefusal(list) ? [list] : list))
  const mapped = items.map((item) => (isRefusal(item) ? item : mapItem(mapping, item)))
  const faults = mapped.filter((each) => isRefusal(each))
  const signals = mapped.flatMap((each) => (isRefusal(each) ? [] : [each.fields]))
  const messages = faults.flatMap(({ message, errors }) =>
    errors.length > 0 ? errors.map(({ path, message }) => `${path}: ${message}`) : [message],
  )
  const emptyDetail =
    kind === 'webhook' ? 'the secrets can be read; give a sample to test the mapping' : 'the source has no new items'
  const detail = items.length === 0 ? emptyDetail : `${signals.length} of ${items.length} items are signals`
  return {
    ...{ ok: faults.length === 0, detail, items: items.length, refused: faults.length },
    ...{ signals: signals.slice(0, max_shown_items), faults: messages.slice(0, 20) },
  }
}
