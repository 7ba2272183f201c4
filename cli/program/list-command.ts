// Commands that list objects of a running service: some, from a cursor on, or all, with the number of all.
import type { ApiObject } from '../client/client.ts'
import { fetchItems } from '../client/fetch-items.ts'
import { pageOptions, selectItems } from '../options/page-options.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { formatTable, type OutputColumn, type OutputRow } from '../terminal/output.ts'
import { printItems } from '../terminal/print-items.ts'
import { type CommandDefinition, command, type NoParams, type Params, type ParsedParams } from './command.ts'

type ListCommandDefinition<T extends Params, O extends Params> = Pick<
  CommandDefinition,
  'words' | 'summary' | 'notes' | 'example'
> & {
  readonly positionals?: T
  /** Options besides those of every list. */
  readonly options?: O
  /** The address of the operation. */
  readonly operation: string
  /** The filters of the operation. */
  readonly input?: (params: ParsedParams<T> & ParsedParams<O>) => ApiObject
  readonly columns: readonly OutputColumn[]
  /** The row of an item (default: the item). */
  readonly row?: (item: ApiObject) => OutputRow
  /** Printed where nothing matches. */
  readonly empty: string
}

/** Declares a command that lists; the options of pages and of the service are part of each. */
export function listCommand<const T extends Params = NoParams, const O extends Params = NoParams>(
  definition: ListCommandDefinition<T, O>,
) {
  const {
    positionals = {} as T,
    options,
    operation,
    input,
    columns,
    row = (item) => item,
    empty,
    ...texts
  } = definition
  return command({
    ...texts,
    positionals,
    options: { ...options, ...pageOptions, ...serviceOptions },
    async run(parsed, terminal) {
      const params = parsed as ParsedParams<typeof pageOptions> & ParsedParams<typeof serviceOptions>
      const api = await connectService(params, terminal)
      const filters = input?.(parsed as unknown as ParsedParams<T> & ParsedParams<O>) ?? {}
      const page = await fetchItems(api, operation, filters, selectItems(params))
      printItems(terminal, params.json, page, () => formatTable(terminal, page.items.map(row), columns, empty))
      return 0
    },
  })
}
