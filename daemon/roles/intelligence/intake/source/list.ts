// The sources of the caller's tenant, and whether they work.
import * as z from 'zod'
import type { Call } from '../../../../kernel/call.ts'
import { operation } from '../../../../kernel/operation.ts'
import { word } from '../../fields.ts'
import { tallyPart } from '../parts.ts'
import { intakeSettings, type Source } from '../settings.ts'
import { counts, newSource, signalSources } from './model.ts'
import { sum } from './tally.ts'
import { talliedIn } from './written.ts'

const shownSource = z
  .strictObject({ name: word, kind: z.enum(['webhook', 'http', 'folder']), tenant_id: word, ...counts })
  .meta({ id: 'ShownSource' })

export const list = operation({
  summary: 'List the configured sources of signals, and whether they work',
  method: 'GET',
  path: '/api/v1/signal-source',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(shownSource) }).meta({ id: 'SourceList' }),
  errors: [],
  allow: 'intelligence:operate',

  async run(call) {
    const mine = call.settings(intakeSettings).sources.filter((source) => isOf(call, source))
    return { items: await Promise.all(mine.map((source) => shownOf(call, source))) }
  },
})

/** Of the caller's tenant. */
export function isOf({ caller, site }: Call, { tenant_id = site.tenant_id }: Source): boolean {
  return caller.tenant_id === '*' || caller.tenant_id === tenant_id
}

function shownOf(call: Call, { name, kind, tenant_id = call.site.tenant_id }: Source) {
  const tally = call.part(tallyPart)
  return tally.besides(async () => {
    const stored = (await call.store(signalSources).find(name))?.value ?? newSource(call, tenant_id)
    return { name, kind, tenant_id, ...sum(talliedIn(stored), tally.of(name)) }
  })
}
