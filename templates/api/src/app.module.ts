import { Module } from '@stack/backend'
import { NotesController } from './notes.controller.ts'

/** The root module. A class takes part when a module lists it. */
@Module({ controllers: [NotesController] })
export class AppModule {}
