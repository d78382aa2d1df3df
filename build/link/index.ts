/** Turns accepted declarations into the route table. Pure. */
import type { Component, Cors, RouteTable, RpcMethod } from '../../runtime/table.ts'
import { type Application, listings } from '../application.ts'
import { type ClassDeclaration, decoratorOf, hasRole, option } from '../declaration.ts'
import type { ProviderMethod } from '../options.ts'
import { routesOf } from '../routes.ts'
import { linkContainer } from './container.ts'
import { linkCrons } from './crons.ts'
import { linkRoute, linkWebhook } from './routes.ts'
import { type BoundSchema, createSchemaList } from './schemas.ts'
import { plain } from './values.ts'

export interface Linked {
  table: RouteTable
  /** The classes of the table's container, in its order. */
  classes: { name: string; file: string; exportName: string | undefined }[]
  /** The schemas that the table's parameters refer to by index. */
  schemas: BoundSchema[]
  /** The routes of the matcher, in the table's order. */
  routes: { method: string; path: string; prefix: string }[]
  /** Some route reads grants, a webhook keeps something, or a file of the project imports `Database`. */
  usesDatabase: boolean
  /** A file of the project imports an ambient service, so handlers run inside a request scope. */
  usesServices: boolean
}

/** The part of the table that the target decides, and not the project's source. */
interface LinkOptions {
  databaseRoles: RouteTable['databaseRoles']
  /** Longest request body in bytes of a route that declares no `maxBodyBytes` (contract 2.11). */
  maxBodyBytes: number
  /** Methods that a service binding offers (contract 9.9). */
  rpc: readonly ProviderMethod[]
  /** Methods that the worker itself calls for its keys (contract 9.15). */
  keys: { accepts: ProviderMethod; current: ProviderMethod } | undefined
}

export function link(application: Application, { databaseRoles, maxBodyBytes, rpc, keys }: LinkOptions): Linked {
  const { components, declarations, indexOf } = linkContainer(application)
  const [root] = application.roots
  const distinct = (list: 'controllers' | 'providers') => [
    ...new Set(listings(application, list).map(({ declaration }) => declaration)),
  ]
  const schemas = createSchemaList()
  const method = ({ class: name, method: handler }: ProviderMethod) => rpcMethod(components, name, handler)
  const webhooks = distinct('providers')
    .filter((declaration) => hasRole(declaration, 'Webhook'))
    .map((declaration) => linkWebhook(declaration, indexOf))
  const crons = distinct('providers').flatMap((declaration) => linkCrons(declaration, indexOf))
  const declared = distinct('controllers').flatMap(routesOf)
  const routes = declared.map((route) => linkRoute(root, route, indexOf, schemas, maxBodyBytes))
  return {
    // only these fields: a build that runs once has forgotten the declarations by the time it bundles
    classes: declarations.map(({ name, file, exportName }) => ({ name, file, exportName })),
    schemas: schemas.list,
    routes: declared.map(({ method, path, prefix }) => ({ method, path: path!, prefix })),
    usesServices: application.declarations.usesServices,
    usesDatabase:
      application.declarations.usesDatabase ||
      routes.some(({ readsGrants }) => readsGrants) ||
      webhooks.some(({ dedupe, record }) => dedupe || record),
    table: {
      databaseRoles,
      container: components,
      routes,
      webhooks,
      ...(crons.length > 0 ? { crons } : {}),
      ...(rpc.length > 0 ? { rpc: rpc.map(method) } : {}),
      ...(keys ? { keys: { accepts: method(keys.accepts), current: method(keys.current) } } : {}),
      ...corsOf(root),
    },
  }
}

function rpcMethod(components: readonly Component[], name: string, handler: string): RpcMethod {
  const target = components.findIndex((component) => component.class === name)
  if (target === -1) throw new Error(`no provider is called ${name}`)
  return { target, handler }
}

/** Adds the defaults, so that the table states everything that the runtime does. */
function corsOf(root: ClassDeclaration | undefined): { cors?: Cors } {
  const declared = option(root && decoratorOf(root, 'Module')?.arguments[0], 'cors')
  if (!declared) return {}
  const given = plain(declared) as Partial<Cors> & Pick<Cors, 'origins'>
  const defaults = {
    credentials: false,
    headers: ['authorization', 'content-type'],
    exposed: ['x-request-id'],
    maxAge: 600,
  }
  return { cors: { ...defaults, ...given } }
}
