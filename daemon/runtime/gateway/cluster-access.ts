// How the gateway reaches the API server of its cluster: by the service account of its pod, or a kubeconfig.
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import type { ClusterAccess } from '../../../adapters/ingress/kubernetes/ingress-requests.ts'

/** Where Kubernetes mounts the account of a pod. */
const account_folder = '/var/run/secrets/kubernetes.io/serviceaccount'
/** The name that every cluster gives its API server, which is in its certificate. */
const api_url = 'https://kubernetes.default.svc'
const max_file_bytes = 1_048_576

export type FoundAccess = Omit<ClusterAccess, 'namespace'> & { readonly namespace: string | undefined }

/** Why there is none, for the operator. */
export type AccessFault = { readonly fault: string }

export function findPodAccess(): FoundAccess | AccessFault {
  const file = (name: string) => path.join(account_folder, name)
  try {
    const namespace = readFileSync(file('namespace'), 'utf8').trim()
    const readCredentials = async () => ({ ca: await readText(file('ca.crt')), token: await readToken(file('token')) })
    return { server: api_url, namespace, readCredentials }
  } catch {
    return { fault: `needs ingress.managed.kubeconfig_file where no service account is mounted (${account_folder})` }
  }
}

const named = <T extends z.ZodType>(name: string, value: T) =>
  z.array(z.object({ name: z.string(), [name]: value })).max(1_000)

const kubeconfig = z.object({
  'current-context': z.string(),
  contexts: named('context', z.object({ cluster: z.string(), user: z.string(), namespace: z.string().optional() })),
  clusters: named(
    'cluster',
    z.object({
      server: z.url({ protocol: /^https$/, error: 'must be https' }),
      'certificate-authority': z.string().optional(),
      'certificate-authority-data': z.base64().optional(),
      'insecure-skip-tls-verify': z.literal(false, { error: 'must be false' }).optional(),
    }),
  ),
  users: named('user', z.object({ token: z.string().optional(), tokenFile: z.string().optional() })),
})

/**
 * The current context of the file. A user has a token or a file with one: what runs programs, follows redirects of an issuer or
 * needs a client certificate is not taken.
 */
export function readKubeconfig(file: string): FoundAccess | AccessFault {
  const parsed = parseFile(file)
  if ('fault' in parsed) return parsed
  const { contexts, clusters, users, 'current-context': current } = parsed.value
  const pick = (list: readonly Record<string, unknown>[], name: string) => list.find((each) => each.name === name)
  const context = pick(contexts, current)?.context as { cluster: string; user: string; namespace?: string } | undefined
  if (!context) return { fault: `has no context ${current}, which is its current one` }
  const cluster = pick(clusters, context.cluster)?.cluster as Record<string, string | undefined> | undefined
  const user = pick(users, context.user)?.user as { token?: string; tokenFile?: string } | undefined
  if (!cluster || !user) return { fault: `has no cluster ${context.cluster} or no user ${context.user}` }
  const { token, tokenFile } = user
  if (token === undefined && tokenFile === undefined)
    return { fault: `has no token and no tokenFile for the user ${context.user}` }
  const beside = (name: string) => path.resolve(path.dirname(file), name)
  const { server = '', 'certificate-authority': ca_file, 'certificate-authority-data': ca_data } = cluster
  const readCa = async () => {
    if (ca_data !== undefined) return Buffer.from(ca_data, 'base64').toString('utf8')
    return ca_file === undefined ? undefined : await readText(beside(ca_file))
  }
  return {
    server: server.replace(/\/+$/, ''),
    namespace: context.namespace,
    readCredentials: async () => ({
      ca: await readCa(),
      token: tokenFile === undefined ? (token ?? '') : await readToken(beside(tokenFile)),
    }),
  }
}

function parseFile(file: string): { readonly value: z.output<typeof kubeconfig> } | AccessFault {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { fault: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  if (text.length > max_file_bytes) return { fault: `has more than ${max_file_bytes} bytes` }
  const yaml = parseYaml(text)
  if ('faults' in yaml) return { fault: 'is not YAML' }
  const parsed = kubeconfig.safeParse(yaml.value)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  // The value may be a secret.
  return { fault: `is not a kubeconfig that the gateway takes: ${issue?.path.join('.')} ${issue?.message}` }
}

/** Without the line feed at its end; a token has letters that a header may have. */
async function readToken(file: string): Promise<string> {
  const token = (await readText(file)).trim()
  if (/^[!-~]+$/.test(token)) return token
  throw new Error('the token file of the service account has no token')
}

async function readText(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(max_file_bytes) })
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
