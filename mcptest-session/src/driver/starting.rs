//! A run of an agent's program at its seat: a fork of a process that is there, or a process of its own.

#[cfg(target_os = "linux")]
use std::time::Instant;

#[cfg(target_os = "linux")]
use super::server::{Answer, Offer, Server};
use super::servers::Seat;
#[cfg(target_os = "linux")]
use super::stdio::{Output, beginning};
use super::{AgentCommand, CommandOutcome, StartError, run};
#[cfg(target_os = "linux")]
use super::{LAST_WORDS, attend, converse, start};

/// Makes a run at its seat: a fork of a process that is there, or a process of its own. To call in a runtime of tokio
/// with its drivers on, when the session of this run listens at the address of the seat.
///
/// # Errors
///
/// The program cannot be started.
pub async fn run_in(
    agent: &AgentCommand,
    seat: &mut Seat<'_>,
) -> Result<CommandOutcome, StartError> {
    if let Some(mut server) = seat.take_server() {
        if server.fits(agent)
            && let Some(ended) = server.run(agent, agent.time_limit).await
        {
            if !server.is_gone() {
                seat.keep(server);
            }
            return Ok(ended);
        }
        drop(server);
        seat.restart();
    }
    if seat.is_starting() {
        start_to_serve(agent, seat).await
    } else {
        run(agent).await
    }
}

/// Starts the program for this run alone: it cannot be forked here.
#[cfg(not(target_os = "linux"))]
async fn start_to_serve(
    agent: &AgentCommand,
    _: &mut Seat<'_>,
) -> Result<CommandOutcome, StartError> {
    run(agent).await
}

/// Starts a program for its run. If it says that it forks, it is kept for the next ones.
#[cfg(target_os = "linux")]
async fn start_to_serve(
    agent: &AgentCommand,
    seat: &mut Seat<'_>,
) -> Result<CommandOutcome, StartError> {
    let Ok(offer) = Offer::new() else {
        seat.refuse(None);
        return run(agent).await;
    };
    let begun = Instant::now();
    let mut running = start(agent, Some(&offer.name))?;
    let process = running.child().id();
    let said = Output::default();
    let (talking, listener) = converse(&mut running, agent, &said);
    let given = beginning(&agent.turns);
    let stream = {
        let waiting = async { running.child().wait().await.ok() };
        let attending = attend(agent, agent.time_limit, talking, waiting);
        tokio::pin!(attending);
        let answer = offer.answer(process, &given, || seat.connections());
        let answer = tokio::select! {
            end = &mut attending => Err(end),
            answer = answer => Ok(answer),
        };
        drop(offer);
        match answer {
            Ok(Answer::Forks(stream)) => Ok(stream),
            Ok(Answer::Hindered(why)) => {
                seat.refuse(why);
                Err(attending.await)
            }
            Err(end) => {
                if !seat.is_known() {
                    seat.refuse(None);
                }
                Err(end)
            }
        }
    };
    let stream = match stream {
        Ok(stream) => stream,
        Err(end) => {
            drop(running);
            listener.end(LAST_WORDS).await;
            return Ok(end.with(&said));
        }
    };
    let start = begun.elapsed();
    seat.serves(start);
    // It has let go of the streams with which it started.
    listener.end(LAST_WORDS).await;
    let mut server = Server::new(stream, agent.clone(), said, running);
    let left = agent.time_limit.map(|limit| limit.saturating_sub(start));
    if let Some(ended) = server.run(agent, left).await {
        if !server.is_gone() {
            seat.keep(server);
        }
        return Ok(ended);
    }
    // It ended before it made the run.
    drop(server);
    seat.refuse(Some("the process that forks ended".to_owned()));
    run(agent).await
}
