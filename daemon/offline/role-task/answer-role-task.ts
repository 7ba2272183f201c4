// The process of a role's user: runs one task for the command that started it, and ends.
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { roles } from '../../roles.ts'
import { splitIntoLines } from '../../runtime/resolution/files/snapshot-lines.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import {
  max_message_bytes,
  type RoleTaskFailure,
  type RoleTaskReply,
  roleTaskRequest,
  task_file_descriptor,
} from './role-task-messages.ts'
import { roleTasks } from './role-tasks.ts'

/** Answers on stdout; a command that has ended leaves nothing to do. */
export async function answerRoleTask({ stdin, stdout, env }: NodeJS.Process): Promise<void> {
  const send = (reply: RoleTaskReply) => stdout.write(`${JSON.stringify(reply)}\n`)
  const lines = splitIntoLines(stdin as AsyncIterable<Buffer>, max_message_bytes)
  try {
    const output = await runRequest((await lines.next()).value ?? '', env, async (value) => {
      send({ type: 'event', value })
      if ((await lines.next()).done) throw new Error('the command has ended')
    })
    send({ type: 'output', value: output })
  } catch (error) {
    send(describeFailure(error))
  }
  stdin.destroy()
}

async function runRequest(line: string, env: NodeJS.ProcessEnv, emit: (event: unknown) => Promise<void>) {
  if (process.getuid?.() === 0) throw new Error('root opens no data of a role')
  const request = parseJsonAs(roleTaskRequest, line)
  const task = roleTasks.find(({ name }) => name === request?.task)
  const role = roles.find(({ name }) => name === request?.role)
  if (!request || !task || !role) throw new OfflineCommandError(2, 'this argument is not for people', 'platform --help')
  const { folder, hasFile, input } = request
  const file = hasFile ? task_file_descriptor : undefined
  return await task.answer({ folder, env, role, file }, input, emit)
}

function describeFailure(error: unknown): RoleTaskFailure {
  const message = error instanceof Error ? error.message : String(error)
  if (isRefusal(error)) return { type: 'failure', code: error.code, message }
  if (!(error instanceof OfflineCommandError)) return { type: 'failure', message }
  const { exit, remedy } = error
  return { type: 'failure', exit, message, ...(remedy === undefined ? {} : { remedy }) }
}
