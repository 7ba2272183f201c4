// The indexes of a store by collection, opened when they are first needed and filled where a field is new.

import type { StoredFields } from '../../../daemon/kernel/store/store.ts'
import { refreshed } from './answers.ts'
import type { Cluster } from './cluster.ts'
import { clusterIdOf, envelope, idOf } from './envelope.ts'
import { ClusterFailure, index_gone } from './failure.ts'
import { fieldsOf } from './field-kind.ts'
import { everyHit } from './listing.ts'
import { lostIndexes } from './made-once.ts'
import type { Documents } from './settling.ts'
import { marksOf } from './sight.ts'
import { markFilled, openTable, type Placing, type SomeCollection, type Table } from './table.ts'

export class Shelf {
  readonly #cluster: Cluster
  readonly #documents: Documents
  readonly #placing: Placing
  readonly #tables = new Map<string, { readonly indexes: readonly string[]; readonly table: Promise<Table> }>()

  constructor(cluster: Cluster, documents: Documents, placing: Placing) {
    this.#cluster = cluster
    this.#documents = documents
    this.#placing = placing
  }

  /** An index that turns out to be gone is looked for again by the next call. @throws ClusterFailure. */
  async use<T>(of: SomeCollection, work: (table: Table) => Promise<T>): Promise<T> {
    const table = await this.#table(of)
    try {
      return await work(table)
    } catch (error) {
      if (error instanceof ClusterFailure && error.type === index_gone) this.#tables.delete(of.name)
      throw error
    }
  }

  /** Indexes that were made and are gone; whatever has taken their names is not used any more. @throws ClusterFailure. */
  async lost(): Promise<readonly string[]> {
    const { prefix } = this.#placing
    const lost = await lostIndexes(this.#cluster, this.#placing)
    for (const alias of lost) if (alias.startsWith(prefix)) this.#tables.delete(alias.slice(prefix.length))
    return lost
  }

  async #table(of: SomeCollection): Promise<Table> {
    const known = this.#tables.get(of.name)
    if (known && of.indexes.every((field) => known.indexes.includes(field))) return await known.table
    const opened = { indexes: of.indexes, table: this.#open(of) }
    this.#tables.set(of.name, opened)
    opened.table.catch(() => {
      if (this.#tables.get(of.name) === opened) this.#tables.delete(of.name)
    })
    return await opened.table
  }

  /** Makes searches see every write that was acknowledged before. */
  async refresh({ alias }: Table): Promise<void> {
    await this.#cluster.ask({ method: 'POST', path: `/${alias}/_refresh` }, refreshed)
  }

  async #open(of: SomeCollection): Promise<Table> {
    const table = await openTable(this.#cluster, this.#placing, of)
    if (table.added.length === 0) return table
    await this.refresh(table)
    for await (const held of everyHit(this.#cluster, table)) {
      const body = held._source.body as StoredFields
      const source = envelope.parse({ ...held._source, fields: fieldsOf(body, table.kinds), marks: marksOf(body) })
      const { _seq_no, _primary_term } = held
      const { alias } = table
      const id = clusterIdOf(idOf(source))
      // The version and the name of its write stay: nothing that anybody reads has changed. Whoever was faster knows the field.
      await this.#documents.settle({ write: source.write, alias, id, replaces: { _seq_no, _primary_term }, source })
    }
    await markFilled(this.#cluster, table)
    return table
  }
}
