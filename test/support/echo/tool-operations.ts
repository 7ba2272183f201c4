// Operations of the echo role that surfaces serve as tools.
import * as z from 'zod'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { type AnyOperation, operation } from '../../../daemon/kernel/operation/operation.ts'

/** Tools: with a path and without, of AI clients and of the administrator’s chat alone. */
export function buildToolOperations(): Record<string, AnyOperation> {
  const common = { summary: 'For tests', errors: [], output: z.unknown(), allow: 'authenticated' } as const
  const input = z.strictObject({ text: z.string().optional() })
  const run: AnyOperation['run'] = async (_call, { text }) => ({ text })
  return {
    edit: operation({
      ...common,
      method: 'PATCH',
      path: '/echo/{id}',
      input: input.extend({ id: z.string() }),
      allow: 'echo:write',
      versioned: true,
      tool: 'echo_edit',
      run: async (call, input) => ({ ...input, version: (call.if_match ?? 0) + 1, key: call.idempotency_key }),
    }),
    say: operation({ ...common, method: 'POST', tool: 'echo_say', input, run }),
    /** A conversation that uses one tool of the administrator’s chat. */
    converse: operation({
      ...common,
      method: 'POST',
      path: '/converse',
      input: z.strictObject({ tool: z.string(), text: z.unknown().optional() }),
      async run(call, { tool, text }) {
        const tools = call.tools('admin_chat')
        const outcome = await tools.perform(tool, text === undefined ? {} : { text })
        const listed = tools.list().map(({ name }) => name)
        return isRefusal(outcome) ? { listed, code: outcome.code } : { listed, body: outcome.body }
      },
    }),
    report: operation({
      ...common,
      method: 'POST',
      tool: 'echo_report',
      surface: 'admin_chat',
      allow: 'echo:write',
      input,
      run: async (call, { text }) => ({ text, subject: call.caller.subject, address: call.address, trace: call.trace }),
    }),
    confide: operation({ ...common, method: 'POST', tool: 'echo_confide', surface: 'admin_chat', input, run }),
    mumble: operation({
      ...common,
      method: 'POST',
      path: '/mumble',
      tool: 'echo_mumble',
      surface: 'admin_chat',
      input,
      run,
    }),
  }
}
