// A tool server that the gateway runs itself, as the profile describes it.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { toolPermission } from '../service-tool/model.ts'

const absolutePath = z
  .string()
  .max(4_096)
  .regex(/^\/[^\0]*[^/\0]$/, 'must be an absolute path without a slash at its end')

/** Text of an argument or a variable: it may be visible to every user of the machine. */
const plainText = z
  .string()
  .max(4_096)
  .regex(/^[^\0]*$/, 'must have no zero byte')

/** Variables of the sandbox, and those that a shell or the loader of programs reads before the server has begun. */
const reservedVariables =
  /^(?:PATH|HOME|TMPDIR|LANG|IFS|ENV|BASH_ENV|SHELLOPTS|PS4|PWD|OLDPWD|LD_.*|GLIBC_.*|MALLOC_.*|LOCPATH|GCONV_PATH)$/
const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be a name of a variable')
  .refine((name) => !reservedVariables.test(name), 'is set by the sandbox, or read before the server has begun')

export const stdioServer = z.strictObject({
  command: z
    .tuple([absolutePath], plainText)
    .refine((words) => words.length <= 64, 'must have at most 64 words')
    .meta({ description: 'Absolute path of the program, and its arguments: without secrets' }),
  visible: z
    .array(absolutePath)
    .max(32)
    .default([])
    .meta({ description: 'Further files and folders that it may read, besides those of the operating system' }),
  env: z.record(variableName, plainText).default({}).meta({ description: 'Variables of its environment' }),
  secret_env: z
    .record(variableName, absolutePath)
    .default({})
    .meta({ description: 'Variables whose values are in files, which are read at each start' }),
  network: z.enum(['none', 'machine']).default('none').meta({
    description: 'machine: it reaches whatever this machine reaches, the listeners of the site included',
  }),
  permission: toolPermission
    .default('gateway:call')
    .meta({ description: 'What callers need for its tools, unless one is accepted with another permission' }),
  answer_s: z.int().min(1).max(600).default(30).meta({ description: 'Seconds that it may take to start' }),
  idle_s: z
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .meta({ description: 'Seconds without a call after which it is ended, until it is needed again' }),
  memory_mb: z.int().min(32).max(65_536).default(512),
  disk_mb: z.int().min(1).max(4_096).default(64).meta({ description: 'Of its folder, which is in memory' }),
  cpu_s: z
    .int()
    .min(1)
    .max(86_400)
    .default(3_600)
    .meta({ description: 'Processor seconds of each of its processes; then it is started again' }),
  processes: z.int().min(1).max(4_096).default(64).meta({ description: 'Processes and threads at a time' }),
  open_files: z.int().min(16).max(65_536).default(256),
})
export type StdioServerSettings = z.output<typeof stdioServer>

/** Another command, or one that sees something else, is another server: its tools are accepted again. */
export function stdioServerUrl(name: string, server: StdioServerSettings): string {
  const { command, visible, env, secret_env, network } = server
  return `stdio://${name}/${canonicalDigest({ command, visible, env, secret_env, network }).slice(0, 32)}`
}
