// Exports signals as a STIX 2.1 bundle of sightings with all referenced objects.
import * as z from 'zod'
import { isReleasableTo } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { totalFields } from '../../../kernel/operation/paging.ts'
import { shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { stixBundle } from '../stix/model.ts'
import { buildBundle } from '../stix/rules.ts'
import { filterFields, listSignals } from './list-signals.ts'
import { showSignalToAll } from './view.ts'

export const exportStix = operation({
  summary: 'Export signals as a STIX 2.1 bundle of sightings, the latest detected first',
  method: 'GET',
  ...objectPaths('signal', '/export/stix'),
  input: z.strictObject({
    ...filterFields,
    subject_id: shortText.optional(),
    releasable_to: shortText.optional().meta({
      description: 'Only signals whose label is releasable to this tenant or nation; others are counted in left_out',
    }),
  }),
  output: z
    .strictObject({
      bundle: stixBundle,
      left_out: z.int().min(0).meta({ description: 'Signals of this page that are not releasable to releasable_to' }),
      next_cursor: z.string().optional(),
      ...totalFields,
    })
    .meta({ id: 'SignalExport' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { releasable_to, ...filters }) {
    const { items, ...next } = await listSignals(call, filters, showSignalToAll)
    const releasable = items.filter(
      ({ classification }) => !releasable_to || isReleasableTo(classification, [releasable_to]),
    )
    const { name: site } = call.site
    const bundle = buildBundle(releasable, { site, tenant_id: call.caller.tenant_id })
    return { bundle, left_out: items.length - releasable.length, ...next }
  },
})
