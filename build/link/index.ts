/** Declarations that nobody refused become the route table. Pure. */
import type { RouteTable } from '../../runtime/table.ts'
import { type Application, listings } from '../application.ts'
import { type ClassDeclaration, hasRole } from '../declaration.ts'
import { routesOf } from '../routes.ts'
import { linkContainer } from './container.ts'
import { linkRoute, linkWebhook } from './routes.ts'

export interface Linked {
  table: RouteTable
  /** The classes of the table's container, in its order. */
  classes: ClassDeclaration[]
}

export function link(application: Application, databaseRoles: RouteTable['databaseRoles']): Linked {
  const { components, declarations, indexOf } = linkContainer(application)
  const [root] = application.roots
  const distinct = (list: 'controllers' | 'providers') => [
    ...new Set(listings(application, list).map(({ declaration }) => declaration)),
  ]
  return {
    classes: declarations,
    table: {
      databaseRoles,
      container: components,
      routes: distinct('controllers')
        .flatMap(routesOf)
        .map((route) => linkRoute(root, route, indexOf)),
      webhooks: distinct('providers')
        .filter((declaration) => hasRole(declaration, 'Webhook'))
        .map((declaration) => linkWebhook(declaration, indexOf)),
    },
  }
}
