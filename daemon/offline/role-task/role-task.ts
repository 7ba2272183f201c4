// A step of a command that opens the data of one role. Where root runs the command, the step runs in a process that has
// the rights of the role's user and no others: a database is parsed by native code, and its writer may be an attacker.
import type * as z from 'zod'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'

export type RoleTaskContext = {
  readonly folder: SiteFolder
  readonly env: EnvironmentVariables
  readonly role: RoleOutline
  /** Descriptor of a file that the person named: the role's user may have no right to open it. */
  readonly file?: number | undefined
}

/** The schemas bound what a process of another user can make of its answers. */
type RoleTaskDeclaration<Input, Event, Output> = {
  readonly name: string
  readonly input: z.ZodType<Input>
  readonly event: z.ZodType<Event>
  readonly output: z.ZodType<Output>
  /** The folder whose owner runs it; default: the data of the role. */
  readonly locateFolder?: (folder: SiteFolder, role: string) => string
  /** `emit` resolves once the command has handled the event. */
  run(context: RoleTaskContext, input: Input, emit: (event: Event) => Promise<void>): Promise<Output>
}

/** A task as the process of a role's user runs it, from the text of the request. */
export type RoleTaskService = {
  readonly name: string
  answer(context: RoleTaskContext, input: unknown, emit: (event: unknown) => Promise<void>): Promise<unknown>
}

export type RoleTask<Input, Event, Output> = RoleTaskDeclaration<Input, Event, Output> & RoleTaskService

export function roleTask<Input, Event, Output>(
  task: RoleTaskDeclaration<Input, Event, Output>,
): RoleTask<Input, Event, Output> {
  return { ...task, answer: async (context, input, emit) => await task.run(context, task.input.parse(input), emit) }
}
