//! Plays a script as a model API on loopback until it is killed.

#![forbid(unsafe_code)]

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use scripted_provider::{Options, Provider, Script};

const USAGE: &str = "\
usage: scripted-provider SCRIPT.json [--log FILE.jsonl] [--port N] [--until-stdin-closes]";

#[derive(Debug, Default)]
struct Args {
    script: PathBuf,
    options: Options,
    until_stdin_closes: bool,
}

fn main() -> ExitCode {
    let args = match parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("scripted-provider: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("scripted-provider: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let place = args.script.display();
    let json =
        std::fs::read_to_string(&args.script).map_err(|error| format!("{place}: {error}"))?;
    let script = Script::from_json(&json).map_err(|error| format!("{place}: {error}"))?;
    serve(script, args).map_err(|error| error.to_string())
}

fn serve(script: Script, args: &Args) -> io::Result<()> {
    let provider = Provider::start_with(script, &args.options)?;
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on {}", provider.url())?;
    stdout.flush()?;
    if args.until_stdin_closes {
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        return Ok(());
    }
    loop {
        std::thread::park();
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args::default();
    while let Some(arg) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--log" => args.options.log = Some(value()?.into()),
            "--port" => {
                let port = value()?;
                let number = port.parse();
                args.options.port = number.map_err(|_| format!("{port:?} is no port"))?;
            }
            "--until-stdin-closes" => args.until_stdin_closes = true,
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            _ if args.script.as_os_str().is_empty() => args.script = arg.into(),
            extra => return Err(format!("unexpected argument {extra:?}")),
        }
    }
    if args.script.as_os_str().is_empty() {
        return Err("no script is given".to_owned());
    }
    Ok(args)
}
