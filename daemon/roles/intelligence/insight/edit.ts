// Edits the title and the description of an insight that is not closed; its ledger keeps the earlier texts.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { changeInsight } from './change-insight.ts'
import { insight, insightInput } from './model.ts'
import { editInsight } from './rules.ts'
import { showInsight } from './view.ts'

const { title, description } = insightInput.shape

export const edit = operation({
  ...objectPaths('insight', '/{uid}'),
  summary: 'Edit an insight: absent fields stay as they are',
  method: 'PATCH',
  tool: 'insight_edit',
  input: uidInput.extend({
    title: title.optional(),
    description: description.nullable().meta({ description: 'null removes it' }),
  }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid, ...edited }) {
    const change = await changeInsight(call, uid, {}, (current) => editInsight(current, edited, attributeAction(call)))
    return isRefusal(change) ? change : showInsight(change)
  },
})
