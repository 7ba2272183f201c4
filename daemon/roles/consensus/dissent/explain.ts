// A dissent record told as prose, for the person who has to settle it.
import * as z from 'zod'
import { label } from '../../../kernel/label.ts'
import { operation, Reply } from '../../../kernel/operation.ts'
import { preferred } from '../../../kernel/preferred.ts'
import { explainMarkdown, explainText } from '../combine/explain.ts'
import { idInput } from '../session/model.ts'
import { dissents } from './model.ts'

const types = ['application/json', 'text/plain', 'text/markdown'] as const

export const explain = operation({
  summary: 'Explain a dissent record to a person',
  method: 'GET',
  path: '/api/v2/dissent/{id}/explain',
  tool: 'dissent_explain',
  input: idInput,
  output: z
    .strictObject({
      id: z.string(),
      session_id: z.string(),
      classification: label,
      text: z.string(),
      markdown: z.string(),
    })
    .meta({ id: 'Explanation' }),
  errors: ['not_found'],
  allow: 'consensus:read',
  produces: [...types],

  async run(call, { id }) {
    const { session_id, label: classification, body } = (await call.store(dissents).get(id)).value
    const type = preferred(call.accepts, types)
    if (type === 'text/plain') return new Reply('text/plain; charset=utf-8', explainText(body, classification))
    if (type === 'text/markdown')
      return new Reply('text/markdown; charset=utf-8', explainMarkdown(body, classification))
    const [text, markdown] = [explainText(body, classification), explainMarkdown(body, classification)]
    return { id, session_id, classification, text, markdown }
  },
})
