import { Body, Controller, Module, Post } from '@stack/backend'

const appointment = {
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) => ({ value: value as { at: Date } }),
    jsonSchema: {
      input: () => {
        return { type: 'object', properties: { at: { type: 'string' } } }
      },
    },
  },
}

@Controller('/appointments')
export class AppointmentsController {
  @Post()
  create(@Body(appointment) { at }: { at: Date }): string {
    return at.toISOString()
  }
}

@Module({ controllers: [AppointmentsController] })
export class AppModule {}
