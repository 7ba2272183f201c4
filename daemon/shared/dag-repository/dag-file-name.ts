// Names of the files of DAGs in a repository: DAGs of different tenants may have one name, so each has the id of its object too.

const extensions = ['json', 'py'] as const
/** `json`: an assembled DAG. */
export type DagLanguage = (typeof extensions)[number]

/** `isTest`: of a journey test, which has a folder of its own. */
export type ManagedDagName = { readonly uid: string; readonly dag_id: string; readonly isTest?: boolean }

/** No uid has a dot, so that no other name ends so. */
const test_mark = '.test'

export function dagFileName({ uid, dag_id, isTest = false }: ManagedDagName, language: DagLanguage): string {
  return `${dag_id}.${uid}${isTest ? test_mark : ''}.${language}`
}

export function isTestFile(name: string): boolean {
  return extensions.some((extension) => name.endsWith(`${test_mark}.${extension}`))
}

/** The name in each language: a DAG may change its own. */
export function listDagFileNames(dag: ManagedDagName): string[] {
  return extensions.map((language) => dagFileName(dag, language))
}

/** The names of the same DAG in other languages. */
export function otherNamesOf(name: string): string[] {
  const stem = name.replace(/\.(json|py)$/, '')
  return extensions.map((extension) => `${stem}.${extension}`).filter((other) => other !== name)
}
