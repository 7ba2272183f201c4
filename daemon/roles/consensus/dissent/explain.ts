// Explains a dissent record in prose, for the person who has to resolve it.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { operation, RawResponse } from '../../../kernel/operation/operation.ts'
import { preferredMediaType } from '../../../kernel/operation/preferred-media-type.ts'
import { explainAsMarkdown, explainAsText } from '../combine/explain.ts'
import { dissents } from '../session/dissent/model.ts'
import { idInput } from '../session/model.ts'

const mediaTypes = ['application/json', 'text/plain', 'text/markdown'] as const

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
  produces: [...mediaTypes],

  async run(call, { id }) {
    const { session_id, label: classification, body } = (await call.store(dissents).get(id)).value
    const type = preferredMediaType(call.accepts, mediaTypes)
    if (type === 'text/plain') return new RawResponse('text/plain; charset=utf-8', explainAsText(body, classification))
    if (type === 'text/markdown')
      return new RawResponse('text/markdown; charset=utf-8', explainAsMarkdown(body, classification))
    const [text, markdown] = [explainAsText(body, classification), explainAsMarkdown(body, classification)]
    return { id, session_id, classification, text, markdown }
  },
})
