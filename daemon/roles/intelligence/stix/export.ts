// Signals for other systems: a STIX 2.1 bundle of sightings, with all that they refer to.
import * as z from 'zod'
import { releasableTo } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { word } from '../fields.ts'
import { filterFields, pageOfSignals } from '../signal/page.ts'
import { shownToAll } from '../signal/view.ts'
import { stixBundle } from './model.ts'
import { bundleOf } from './rules.ts'

const [path = '', ...also] = ownedPaths('signal', '/export/stix')

export const exportStix = operation({
  summary: 'Export signals as a STIX 2.1 bundle of sightings, the latest detected first',
  method: 'GET',
  path,
  also,
  input: z.strictObject({
    ...filterFields,
    subject_id: word.optional(),
    releasable_to: word
      .optional()
      .meta({ description: 'Only what the label lets this tenant or nation see; others are left out and counted' }),
  }),
  output: z
    .strictObject({
      bundle: stixBundle,
      left_out: z.int().min(0).meta({ description: 'Signals of this page that are not releasable as asked' }),
      next_cursor: z.string().optional(),
    })
    .meta({ id: 'SignalExport' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { releasable_to, ...filters }) {
    const { items, ...next } = await pageOfSignals(call, filters, shownToAll)
    const told = items.filter(({ classification }) => !releasable_to || releasableTo(classification, [releasable_to]))
    const { name: site } = call.site
    const bundle = bundleOf(told, { site, tenant_id: call.caller.tenant_id })
    return { bundle, left_out: items.length - told.length, ...next }
  },
})
