// Runs a task with the rights of the role's user: here, or in a process of that user where this one can become root.
import { type ChildProcess, spawn } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import type * as z from 'zod'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { type FileOwner, findForeignOwner, runAsInvoker, runAsOwnerOf } from '../../boot/host/act-as-owner.ts'
import { roleDataFolder } from '../../boot/storage/site-folder.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { splitIntoLines } from '../../runtime/resolution/files/snapshot-lines.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { selfCommand } from '../self-command.ts'
import type { RoleTask, RoleTaskContext } from './role-task.ts'
import { role_task_argument } from './role-task-argument.ts'
import { max_message_bytes, type RoleTaskFailure, roleTaskReply, task_file_descriptor } from './role-task-messages.ts'

/**
 * The output of the task. The process of the role's user gave up the rights of root for good before it became this
 * program (groups, real, effective and saved ids), and its answers are parsed as those of an attacker. Throws what the task
 * throws: `OfflineCommandError` or `Refusal`, otherwise an `OfflineCommandError` (1).
 */
export async function runRoleTask<Input, Event, Output>(
  task: RoleTask<Input, Event, Output>,
  context: RoleTaskContext,
  input: Input,
  handleEvent: (event: Event) => void | Promise<void> = () => undefined,
): Promise<Output> {
  const located = (task.locateFolder ?? roleDataFolder)(context.folder, context.role.name)
  // The first task of a role may make its folder, as the owner of the folder above.
  const path = lstatSync(located, { throwIfNoEntry: false }) ? located : dirname(located)
  const owner = findForeignOwner(path)
  if (!owner) return await runAsOwnerOf(path, () => runHere({ task, context, input, handleEvent }))
  if (!owner.isFolder) throw new OfflineCommandError(3, `${path} is not a folder`, 'move it away')
  return await runInProcessOf(owner, { task, context, input, handleEvent })
}

type TaskRun<Input, Event, Output> = {
  readonly task: RoleTask<Input, Event, Output>
  readonly context: RoleTaskContext
  readonly input: Input
  readonly handleEvent: (event: Event) => void | Promise<void>
}

/** By the same schemas as in a process of its own, so that neither way takes what the other refuses. */
async function runHere<Input, Event, Output>({
  task,
  context,
  input,
  handleEvent,
}: TaskRun<Input, Event, Output>): Promise<Output> {
  const emit = async (event: Event) => await handleEvent(task.event.parse(event))
  return task.output.parse(await task.run(context, task.input.parse(input), emit))
}

async function runInProcessOf<Input, Event, Output>(
  owner: FileOwner,
  { task, context, input, handleEvent }: TaskRun<Input, Event, Output>,
): Promise<Output> {
  const { folder, role, file } = context
  const child = startProcess(owner, context)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const errors = collectErrors(child)
  const send = (line: object) => child.stdin?.write(`${JSON.stringify(line)}\n`)
  try {
    send({ task: task.name, role: role.name, folder, hasFile: file !== undefined, input })
    for await (const line of splitIntoLines(child.stdout as AsyncIterable<Buffer>, max_message_bytes)) {
      const reply = parseJsonAs(roleTaskReply, line)
      if (reply?.type === 'failure') throw toError(reply)
      if (reply?.type === 'output') return requireAnswer(task.output, reply.value, owner)
      await handleEvent(requireAnswer(task.event, reply?.value, owner))
      send({})
    }
    throw new OfflineCommandError(1, `${role.name}, as user ${userName(owner.uid)}: ${errors().trim() || 'no answer'}`)
  } finally {
    // Nothing of it counts any more. An earlier step may have switched the effective user, who may not end it.
    runAsInvoker(() => child.kill('SIGKILL'))
    await ended
  }
}

/** Started by the effective user root alone, `spawn` sets groups, real, effective and saved ids. */
function startProcess({ uid, gid }: FileOwner, { env, file }: RoleTaskContext): ChildProcess {
  const [program, ...leading] = selfCommand()
  // Other processes of the role's user can read it, so it holds no token of the person.
  const { PLATFORM_TOKEN: _token, ...settings } = env
  const descriptors: ('pipe' | 'ignore' | number)[] = ['pipe', 'pipe', 'pipe']
  descriptors[task_file_descriptor] = file ?? 'ignore'
  const child = runAsInvoker(() =>
    spawn(program, [...leading, role_task_argument], { env: settings, cwd: '/', stdio: descriptors, uid, gid }),
  )
  // Both faults show as an end without an answer.
  child.once('error', (error) => child.stderr?.emit('data', Buffer.from(`${program} cannot be run: ${error.message}`)))
  child.stdin?.on('error', () => undefined)
  return child
}

const max_error_bytes = 65_536

function collectErrors({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.on('data', (part: Buffer) => {
    if (text.length < max_error_bytes) text += part.toString('utf8')
  })
  return () => text.slice(0, max_error_bytes)
}

function toError({ message, exit, code, remedy }: RoleTaskFailure): Error {
  return code === undefined ? new OfflineCommandError(exit ?? 1, message, remedy) : new Refusal(code, message)
}

function requireAnswer<T>(schema: z.ZodType<T>, value: unknown, { uid }: FileOwner): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new OfflineCommandError(5, `the process of user ${userName(uid)} gave an answer that is not valid`)
}
