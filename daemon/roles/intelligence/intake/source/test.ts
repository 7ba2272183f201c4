// Tries a source without raising anything: its secrets, what it has to say, and what the mapping makes of it.
import * as z from 'zod'
import type { Call } from '../../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../../kernel/errors.ts'
import { operation } from '../../../../kernel/operation.ts'
import { word } from '../../fields.ts'
import { itemFields } from '../item/model.ts'
import { itemsOf, mappedItem } from '../mapping/rules.ts'
import { pollsPart, secretsPart } from '../parts.ts'
import { intakeSettings, type Source } from '../settings.ts'
import { isOf } from './list.ts'
import { settled } from './settled.ts'

const most_shown = 5

const tried = z
  .strictObject({
    ok: z.boolean(),
    detail: z.string(),
    items: z.int().min(0).meta({ description: 'How many there are' }),
    refused: z.int().min(0).meta({ description: 'How many of them are no signals' }),
    signals: z.array(itemFields).meta({ description: 'The first of those that would be raised' }),
    faults: z.array(z.string()),
  })
  .meta({ id: 'SourceTried' })

export const test = operation({
  summary: 'Try a source without raising anything; a sample takes the place of what it says',
  method: 'POST',
  path: '/api/v1/signal-source/{name}/test',
  input: z.strictObject({ name: word, sample: z.record(z.string(), z.unknown()).optional() }),
  output: tried,
  errors: ['not_found'],
  allow: 'intelligence:operate',

  async run(call, { name, sample }) {
    const source = call.settings(intakeSettings).sources.find((each) => each.name === name && isOf(call, each))
    if (!source) return refuse('not_found', 'there is no such source')
    const documents = await documentsOf(call, source, sample)
    const of = settled(call, source)
    for (const found of [of, documents])
      if (isRefused(found)) return { ok: false, detail: found.message, items: 0, refused: 0, signals: [], faults: [] }
    return mappedOf(source, documents as readonly unknown[])
  },
})

async function documentsOf(call: Call, source: Source, sample: unknown): Promise<readonly unknown[] | Refused> {
  if (source.kind === 'webhook') {
    const secrets = await call.part(secretsPart).read(source.secret_files)
    if (isRefused(secrets)) return secrets
  }
  if (sample !== undefined) return [sample]
  if (source.kind === 'webhook') return []
  const polled = call.part(pollsPart).sources.get(source.name)
  const news = await polled?.poll(undefined, call.signal)
  if (isRefused(news)) return news
  return (news?.sets ?? []).flatMap(({ documents }) => documents)
}

function mappedOf({ mapping, kind }: Source, documents: readonly unknown[]): z.infer<typeof tried> {
  const lists = documents.map((document) => (isRefused(document) ? document : itemsOf(mapping, document)))
  const items = lists.flatMap((list) => (isRefused(list) ? [list] : list))
  const mapped = items.map((item) => (isRefused(item) ? item : mappedItem(mapping, item)))
  const faults = mapped.filter((each) => isRefused(each))
  const signals = mapped.flatMap((each) => (isRefused(each) ? [] : [each.fields]))
  const said = faults.flatMap(({ message, errors }) =>
    errors.length > 0 ? errors.map(({ path, message: why }) => `${path}: ${why}`) : [message],
  )
  const nothing =
    kind === 'webhook' ? 'the secrets can be read; give a sample to try the mapping' : 'it has nothing to say'
  const detail = items.length === 0 ? nothing : `${signals.length} of ${items.length} items are signals`
  return {
    ...{ ok: faults.length === 0, detail, items: items.length, refused: faults.length },
    ...{ signals: signals.slice(0, most_shown), faults: said.slice(0, 20) },
  }
}
