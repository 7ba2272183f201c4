// Lists the sources of the caller's tenant with counts and last error.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { shortText } from '../fields.ts'
import { sourceTallyPart } from '../signal-intake/parts.ts'
import { type IntakeSource, intakeSettings } from '../signal-intake/settings.ts'
import { countFields, newSignalSource, signalSources } from './model.ts'
import { isOwnSource } from './resolve-source.ts'
import { addCounts } from './source-tally.ts'
import { countsOfSource } from './store-source.ts'

const sourceView = z
  .strictObject({ name: shortText, kind: z.enum(['webhook', 'http', 'folder']), tenant_id: shortText, ...countFields })
  .meta({ id: 'ShownSource' })

export const list = operation({
  summary: 'List the configured sources of signals with counts and last error',
  method: 'GET',
  path: '/api/v1/signal-source',
  input: z.strictObject({}),
  output: wholeListSchema(sourceView).meta({ id: 'SourceList' }),
  errors: [],
  allow: 'intelligence:operate',

  async run(call) {
    const ownSources = call.settings(intakeSettings).sources.filter((source) => isOwnSource(call, source))
    return wholeList(await Promise.all(ownSources.map((source) => showSource(call, source))))
  },
})

function showSource(call: Call, { name, kind, tenant_id = call.site.tenant_id }: IntakeSource) {
  const tally = call.part(sourceTallyPart)
  return tally.readBetweenFlushes(async () => {
    const stored = (await call.store(signalSources).find(name))?.value ?? newSignalSource(call, tenant_id)
    return { name, kind, tenant_id, ...addCounts(countsOfSource(stored), tally.countsOf(name)) }
  })
}
