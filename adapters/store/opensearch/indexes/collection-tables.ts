// Opens the index of each collection on first use, migrates documents of earlier releases, and fills new index fields.

import { applyMigrations, pendingMigrations } from '../../../../daemon/kernel/store/schema-version.ts'
import type { StoredFields } from '../../../../daemon/kernel/store/store.ts'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure, index_not_found } from '../cluster/cluster-failure.ts'
import { refreshResponse } from '../cluster/response-schemas.ts'
import { clusterId, documentEnvelope, documentId } from '../document-envelope.ts'
import { iterateHits } from '../reads/listing.ts'
import { deriveMarks } from '../reads/read-scope.ts'
import type { DocumentClient } from '../writes/document-client.ts'
import { buildFields } from './field-kind.ts'
import { findLostIndexes } from './open-index.ts'
import { type IndexPlacement, markFilled, type OpensearchTable, openTable, type SchemaCollection } from './table.ts'

export class CollectionTables {
  readonly #cluster: OpensearchCluster
  readonly #documents: DocumentClient
  readonly #placement: IndexPlacement
  readonly #tables = new Map<
    string,
    { readonly indexes: readonly string[]; readonly table: Promise<OpensearchTable> }
  >()

  constructor(cluster: OpensearchCluster, documents: DocumentClient, placement: IndexPlacement) {
    this.#cluster = cluster
    this.#documents = documents
    this.#placement = placement
  }

  /** An index that turns out to be gone is looked for again by the next call. @throws ClusterFailure. */
  async use<T>(of: SchemaCollection, work: (table: OpensearchTable) => Promise<T>): Promise<T> {
    const table = await this.#table(of)
    try {
      return await work(table)
    } catch (error) {
      if (error instanceof ClusterFailure && error.type === index_not_found) this.#tables.delete(of.name)
      throw error
    }
  }

  /** Indexes that were made and are gone; an index that has taken such a name is no longer used. @throws ClusterFailure. */
  async findLostIndexes(): Promise<readonly string[]> {
    const { prefix } = this.#placement
    const lost = await findLostIndexes(this.#cluster, this.#placement)
    for (const alias of lost) if (alias.startsWith(prefix)) this.#tables.delete(alias.slice(prefix.length))
    return lost
  }

  async #table(of: SchemaCollection): Promise<OpensearchTable> {
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
  async refresh({ alias }: OpensearchTable): Promise<void> {
    await this.#cluster.request({ method: 'POST', path: `/${alias}/_refresh` }, refreshResponse)
  }

  async #open(of: SchemaCollection): Promise<OpensearchTable> {
    const table = await openTable(this.#cluster, this.#placement, of)
    const steps = pendingMigrations(of, table.version.found)
    if (table.added.length === 0 && steps.length === 0) return table
    await this.refresh(table)
    for await (const held of iterateHits(this.#cluster, table)) {
      const body = applyMigrations(steps, held._source.body as StoredFields)
      if (steps.length > 0 && of.schema?.safeParse(body).success === false)
        throw new ClusterFailure(
          'undone',
          `a document of ${of.name} does not have the new form after its migration`,
          60,
        )
      const source = documentEnvelope.parse({
        ...held._source,
        body,
        fields: buildFields(body, table.kinds),
        marks: deriveMarks(body),
      })
      const { _seq_no, _primary_term } = held
      const { alias } = table
      const id = clusterId(documentId(source))
      // The version and the write name stay, because callers see no change. After a conflict, the concurrent writer has
      // already set the field and written the new form.
      await this.#documents.completeWrite({
        write: source.write,
        alias,
        id,
        replaces: { _seq_no, _primary_term },
        source,
      })
    }
    await markFilled(this.#cluster, table)
    return table
  }
}
