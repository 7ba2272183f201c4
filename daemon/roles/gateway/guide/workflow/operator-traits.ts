// The operators of the catalog as far as hints need to know them; a test holds the table to the catalog of ingest.

/**
 * `remote`: it reaches another machine, whose failures may pass. `output`: it hands rows on that its readers take as they are.
 * `tabular`: its file may have types of its own, or leave them to be inferred.
 */
type OperatorTrait = 'source' | 'remote' | 'file' | 'transform' | 'output'

export type OperatorTraits = {
  readonly makes_dataset: boolean
  /** Datasets of tasks before it that it takes; where it only waits for them, `reads` is false. */
  readonly inputs: { readonly min: number; readonly max: number }
  readonly reads: boolean
  readonly traits: ReadonlySet<OperatorTrait>
}

const max_tasks = 200

const entry = (
  makes_dataset: boolean,
  [min, max]: readonly [number, number],
  reads: boolean,
  ...traits: OperatorTrait[]
): OperatorTraits => ({ makes_dataset, inputs: { min, max }, reads, traits: new Set(traits) })

const source = (...traits: OperatorTrait[]) => entry(true, [0, 0], false, 'source', ...traits)
const transform = (inputs = 1) => entry(true, [inputs, inputs], true, 'transform')

export const operatorTraits: ReadonlyMap<string, OperatorTraits> = new Map(
  Object.entries({
    ingest_file: source('file'),
    ingest_database: source('remote'),
    ingest_landing_zone: source('file'),
    ingest_http: source('remote', 'file'),
    ingest_objects: source('remote', 'file'),
    ingest_queue: source('remote'),
    select: transform(),
    rename: transform(),
    cast: transform(),
    filter: transform(),
    join: transform(2),
    aggregate: transform(),
    validate: transform(),
    write: entry(false, [1, 1], true, 'output'),
    notify: entry(false, [0, max_tasks], false),
    // The run that it starts measures its records, and is held where they are poor.
    resolve_run: entry(false, [1, 64], true),
    filedrop_send: entry(false, [1, 1], true, 'output', 'remote'),
    external_dispatch: entry(true, [0, max_tasks], false, 'remote'),
    test_call: entry(true, [0, max_tasks], true, 'remote'),
    verify_response_json: entry(false, [1, 1], true),
  }),
)
