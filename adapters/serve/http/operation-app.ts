// The router of a listener: operations and a surface at their paths, and what happens to requests at others.
import type http from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { Surface } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { findCertifiedRole } from '../../../daemon/kernel/identity/admit-caller.ts'
import {
  type AddressedOperation,
  isInside,
  isRouted,
  listPaths,
  type ServedRoute,
} from '../../../daemon/kernel/operation/operation.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { defaultTracePolicy, type TracePolicy } from '../../../daemon/kernel/telemetry/trace-policy.ts'
import type { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import {
  acceptRequest,
  cutOffReader,
  type ListenerContext,
  performRequest,
  presentedCredential,
  timeOutRequest,
} from './handle-request.ts'
import { httpActiveRequests } from './http-metrics.ts'
import type { ListenerLimits } from './limits.ts'
import { pathLookup, toRouterPath } from './method-lookup.ts'
import { type ServedRequest, ServedRequests } from './served-request.ts'
import { surfaceHandler } from './surface-handler.ts'
import { answerParserError, failRequest, receiveBody, unroutedHandler } from './unrouted-request.ts'

export type OperationAppOptions = {
  /** Name of the listener in metrics and logs. */
  readonly name: string
  readonly operations: readonly AddressedOperation[]
  readonly roleContext: RoleContext
  /** Leaves out the operations that only the internal listener and the local socket may serve. */
  readonly restricted: boolean
  /** Another protocol that the listener serves at its own path. */
  readonly surface?: Surface | undefined
  readonly limits?: Partial<ListenerLimits>
  /** Of a TCP listener; a local socket adopts the traces of its callers, which belong to the site. */
  readonly trace_policy?: TracePolicy | undefined
  readonly log: Log
  readonly metrics: Metrics
}

/** What the listener decides that carries the requests. */
export type OperationAppSetting = {
  readonly isLocal: boolean
  readonly limits: ListenerLimits
  readonly pending?: PendingConnections | undefined
  /** Options of the server that the router brings, unless another listener carries its requests. */
  readonly server?: http.ServerOptions
}

export type OperationApp = {
  readonly app: FastifyInstance
  readonly context: ListenerContext
  /** Whether an operation or the surface is declared at the path, also where this listener leaves it out. */
  readonly hasPath: (path: string) => boolean
  /** Ends the checks of time limits. */
  stopSweep(): void
}

export function createOperationApp(options: OperationAppOptions, setting: OperationAppSetting): OperationApp {
  const { roleContext, log, metrics, surface } = options
  const { isLocal, limits, pending } = setting
  const requests = new ServedRequests(limits)
  const trace_policy = (isLocal ? undefined : options.trace_policy) ?? defaultTracePolicy
  const context: ListenerContext = { roleContext, log, metrics, limits, isLocal, trace_policy, requests, pending }
  const routed = options.operations.filter(isRouted)
  const isHidden = ({ operation }: ServedRoute) => options.restricted && isInside(operation)
  const operations = routed.filter((target) => !isHidden(target))
  const app = createApp(context, setting.server)
  const surfaceRoutes = surface?.routes ?? []
  const handleUnrouted = unroutedHandler(context, [...operations, ...surfaceRoutes])
  // Before the routes: an unknown path is answered without a look at the body.
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? handleUnrouted(request, reply) : done()))
  for (const target of operations) addRoutes(app, context, target, performRequest.bind(undefined, context, target))
  if (roleContext.identity.findRole) {
    for (const target of routed.filter(isHidden)) {
      const handle = performRequest.bind(undefined, context, target)
      addRoutes(app, context, target, handle, undefined, handleUnrouted)
    }
  }
  if (surface)
    for (const target of surface.routes) addRoutes(app, context, target, surfaceHandler(context, surface), surface)
  app.setErrorHandler((error: FastifyError, request, reply) => failRequest(context, error, request, reply))
  const sweep = setInterval(() => timeOutOverdue(context, options.name), Math.min(250, limits.request_ms / 2)).unref()
  const hasPath = pathLookup([...routed, ...surfaceRoutes])
  return { app, context, hasPath, stopSweep: () => clearInterval(sweep) }
}

/** Operations parse by their own schemas; without this, Fastify loads a validator and a serializer at every start. */
function refuseCompilation(): never {
  throw new TypeError('a route has a Fastify schema; operations bring their own')
}

function createApp(context: ListenerContext, server: http.ServerOptions = {}): FastifyInstance {
  const { limits } = context
  const app = fastify({
    ...('cert' in server ? { https: server } : { http: server }),
    requestTimeout: limits.receive_ms,
    keepAliveTimeout: limits.idle_ms,
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512 },
    schemaController: { compilersFactory: { buildValidator: refuseCompilation, buildSerializer: refuseCompilation } },
    frameworkErrors: (error, request, reply) => failRequest(context, error, request, reply),
    clientErrorHandler: (error, socket) => answerParserError(context, error, socket as Socket),
  }) as unknown as FastifyInstance
  app.decorateRequest('served', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => {
    void receiveBody(context, request).then((body) => (isRefusal(body) ? done(body) : done(null, body)))
  })
  return app
}

/** False also while that cannot be judged. */
function isOfRole(context: ListenerContext, request: FastifyRequest): boolean {
  try {
    return findCertifiedRole(context.roleContext, presentedCredential(context, request)) !== undefined
  } catch {
    return false
  }
}

type RouteHandler = (served: ServedRequest, request: FastifyRequest) => Promise<void>

function addRoutes(
  app: FastifyInstance,
  context: ListenerContext,
  target: ServedRoute,
  handle: RouteHandler,
  surface?: Surface | undefined,
  /** Answers everybody but the roles of the site, for whom alone the route is there. */
  answerOthers?: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const { method } = target.operation
  for (const path of listPaths(target.operation)) {
    app.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: toRouterPath(path),
      onRequest: (request, reply, done) => {
        if (answerOthers && !isOfRole(context, request)) {
          answerOthers(request, reply)
          return
        }
        acceptRequest(context, target, request, reply, surface).then((mayGoOn) => {
          if (mayGoOn) done()
        }, done)
      },
      handler: (request) => {
        if (request.served) void handle(request.served, request)
      },
    })
  }
}

function timeOutOverdue(context: ListenerContext, listener: string): void {
  const now_ms = performance.now()
  for (const served of context.requests.overdue(now_ms)) timeOutRequest(context, served)
  for (const served of context.requests.readTooSlowly(now_ms)) cutOffReader(context, served)
  context.metrics.set(httpActiveRequests, { listener }, context.requests.plain.size + context.requests.streams.size)
}
