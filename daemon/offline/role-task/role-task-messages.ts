// What a command and the process of a role's user exchange: lines of JSON over pipes.
import * as z from 'zod'
import { type ErrorCode, errorTable } from '../../kernel/error/errors.ts'

/** The descriptor of a file that the command has opened. */
export const task_file_descriptor = 3

/** One audit record may describe a request of 4 MiB. */
export const max_message_bytes = 16_777_216

const path = z.string().min(1)

/** The first line of the command; each later one acknowledges an event. */
export const roleTaskRequest = z.strictObject({
  task: z.string(),
  role: z.string(),
  folder: z.strictObject({
    profile: path,
    keys: path,
    identity: path,
    peers: path,
    data: path,
    filedrop: path,
    run: path,
  }),
  hasFile: z.boolean(),
  input: z.unknown(),
})

const errorCodes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]

/** A line of the process; `output` and `failure` are the last. */
export const roleTaskReply = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('event'), value: z.unknown() }),
  z.strictObject({ type: z.literal('output'), value: z.unknown() }),
  z.strictObject({
    type: z.literal('failure'),
    message: z.string(),
    exit: z.literal([1, 2, 3, 4, 5]).optional(),
    code: z.enum(errorCodes).optional(),
    remedy: z.string().optional(),
  }),
])
export type RoleTaskReply = z.infer<typeof roleTaskReply>
export type RoleTaskFailure = Extract<RoleTaskReply, { type: 'failure' }>
